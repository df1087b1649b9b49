#![doc = include_str!("docs/front.md")]
#![cfg_attr(not(feature = "serde"), no_std)]
// Some code is used only by stores and workers; without them it is dead.
#![cfg_attr(not(feature = "worker"), allow(dead_code))]
// Links are checked where everything that they lead to is there.
#![cfg_attr(
    not(all(
        feature = "cli",
        feature = "http",
        feature = "registry",
        feature = "schemars",
        feature = "worker"
    )),
    allow(rustdoc::broken_intra_doc_links)
)]

extern crate alloc;

// Lets this crate use `#[machine]`, whose expansion refers to `::machine`.
extern crate self as machine;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod actor;
mod debug;
pub mod definition;
pub mod typed;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "serde")]
pub mod clock;
#[cfg(feature = "serde")]
pub mod contract;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "serde")]
mod id;
#[cfg(feature = "serde")]
pub mod journal;
#[cfg(any(feature = "cli", feature = "http"))]
mod json;
#[cfg(feature = "serde")]
mod language;
#[cfg(feature = "serde")]
mod legible;
#[cfg(any(feature = "cli", feature = "http"))]
mod operate;
#[cfg(feature = "sqlite")]
pub mod store;
#[cfg(feature = "serde")]
pub mod stored;
#[cfg(feature = "schemars")]
pub mod tools;
#[cfg(feature = "serde")]
pub mod view;

#[cfg(feature = "worker")]
pub mod worker;

#[cfg(feature = "worker")]
#[doc = include_str!("docs/guide.md")]
pub mod _guide {}

#[doc = include_str!("docs/specification.md")]
pub mod _specification {}

#[cfg(feature = "serde")]
pub use id::{Id, InvalidId};
#[doc = include_str!("docs/machine.md")]
pub use machine_derive::machine;
