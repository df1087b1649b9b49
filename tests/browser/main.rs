//! The inspector in a real browser, with a real server, store and worker. What it takes is large,
//! so the target says aloud when it is skipped.
//!
//! `cargo test --package machine-tests --features browser --test browser` needs chromium and
//! chromedriver in the `PATH`; `AXE_JS` is the path of `axe.min.js` from the npm package
//! `axe-core`.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]

#[cfg(feature = "browser")]
mod accessible;
#[cfg(feature = "browser")]
mod addresses;
#[cfg(feature = "browser")]
mod browser;
#[cfg(feature = "browser")]
mod calls;
#[cfg(feature = "browser")]
mod commands;
#[cfg(feature = "browser")]
mod decisions;
#[cfg(feature = "browser")]
mod hostile;
#[cfg(feature = "browser")]
mod keyboard;
#[cfg(feature = "browser")]
mod large;
#[cfg(feature = "browser")]
mod live;
#[cfg(feature = "browser")]
mod mail;
#[cfg(feature = "browser")]
mod messages;
#[cfg(feature = "browser")]
mod page;
#[cfg(feature = "browser")]
mod replaced;
#[cfg(feature = "browser")]
mod screenshot;
#[cfg(feature = "browser")]
mod sessions;
#[cfg(feature = "browser")]
mod site;
#[cfg(feature = "browser")]
mod tokens;
#[cfg(feature = "browser")]
mod whole;

/// Says that a check is skipped, also where the output of tests is captured.
fn skipped(why: &str) {
    use std::io::Write;
    // Nothing can be done where there is no standard error.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

#[cfg(not(feature = "browser"))]
#[test]
fn the_inspector_in_a_browser() {
    skipped("needs --features browser, chromium and chromedriver");
}
