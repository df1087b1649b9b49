//! Tests of the library from outside, a folder for each of its rooms.
