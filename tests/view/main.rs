//! Tests of the room `view`.
