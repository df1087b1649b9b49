//! Tests of the library from outside, a folder for each of its rooms. Here stands what they share.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

pub mod forge;
pub mod samples;

/// Asserts that a result is the error that the pattern says, and shows what it is instead.
#[macro_export]
macro_rules! assert_err {
    ($result:expr, $pattern:pat $(if $guard:expr)? $(,)?) => {
        match &$result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("expected Err({}), found {other:?}", stringify!($pattern)),
        }
    };
}
