//! Records, their bytes and their digests: what a machine leaves for other programs. The tests run
//! twice, as they are and with `--features odd-json`, so they are a small program of their own.
#![allow(clippy::unwrap_used, reason = "a failing test should panic")]

mod contract;
mod stored;

mod store {
    mod forger;
    #[allow(dead_code, unused_imports, reason = "the tests of `all` use the rest")]
    mod support;
    mod taken;
    mod tampered;
    mod versions;
}
