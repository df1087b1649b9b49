//! External tests of the library, one folder per module. This crate holds the shared helpers.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

pub mod actors;
pub mod forge;
pub mod samples;

/// Asserts that a result is an error that matches the pattern; otherwise prints the result.
#[macro_export]
macro_rules! assert_err {
    ($result:expr, $pattern:pat $(if $guard:expr)? $(,)?) => {
        match &$result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("expected Err({}), found {other:?}", stringify!($pattern)),
        }
    };
}
