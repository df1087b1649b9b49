//! Tests of the room `typed`.
