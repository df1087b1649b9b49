//! Tests of the room `erased`.
