//! Tests of the room `definition`.
