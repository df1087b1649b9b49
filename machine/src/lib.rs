#![doc = include_str!("docs/front.md")]
#![cfg_attr(not(feature = "durable"), no_std)]
// Links are checked where everything that they lead to is there.
#![cfg_attr(
    not(all(feature = "sqlite", feature = "tools", feature = "worker")),
    allow(rustdoc::broken_intra_doc_links)
)]

#[cfg(feature = "alloc")]
extern crate alloc;

// Lets this crate use `#[machine]`, whose expansion refers to `::machine`.
extern crate self as machine;

#[doc(hidden)]
#[path = "private/mod.rs"]
pub mod __private;
pub mod actor;
mod debug;
pub mod definition;
pub mod prelude;
pub mod typed;

#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "durable")]
pub mod clock;
// Parts of `contract`, `id`, `journal`, `store`, `stored` and `view` are used only by agents, by
// the worker or by SQLite.
#[cfg(feature = "durable")]
#[cfg_attr(not(all(feature = "sqlite", feature = "worker")), allow(dead_code, unused_imports))]
pub mod contract;
#[cfg(feature = "store")]
#[cfg_attr(not(all(feature = "sqlite", feature = "worker")), allow(dead_code))]
pub mod effects;
#[cfg(feature = "durable")]
mod future;
#[cfg(feature = "durable")]
#[cfg_attr(not(all(feature = "sqlite", feature = "worker")), allow(dead_code))]
mod id;
#[cfg(feature = "durable")]
#[cfg_attr(not(all(feature = "sqlite", feature = "worker")), allow(dead_code, unused_imports))]
pub mod journal;
#[cfg(feature = "durable")]
mod language;
#[cfg(feature = "durable")]
mod legible;
#[cfg(feature = "durable")]
mod line;
#[cfg(feature = "store")]
#[cfg_attr(not(all(feature = "sqlite", feature = "worker")), allow(dead_code))]
pub mod observe;
#[cfg(feature = "openapi")]
mod openapi;
#[cfg(feature = "store")]
pub mod operate;
#[cfg(feature = "durable")]
mod own;
#[cfg(feature = "durable")]
mod process;
#[cfg(feature = "durable")]
mod shell;
#[cfg(feature = "store")]
#[cfg_attr(not(all(feature = "agent", feature = "sqlite")), allow(dead_code))]
pub mod store;
#[cfg(feature = "durable")]
#[cfg_attr(not(all(feature = "sqlite", feature = "worker")), allow(dead_code, unused_imports))]
pub mod stored;
#[cfg(feature = "store")]
#[cfg_attr(not(all(feature = "sqlite", feature = "worker")), allow(dead_code))]
pub mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
#[cfg(feature = "tools")]
pub mod tools;
#[cfg(feature = "durable")]
#[cfg_attr(not(all(feature = "sqlite", feature = "worker")), allow(dead_code))]
pub mod view;

#[cfg(feature = "worker")]
#[cfg_attr(not(feature = "agent"), allow(dead_code))]
pub mod worker;

#[cfg(feature = "worker")]
#[doc = include_str!("docs/guide.md")]
pub mod _guide {}

#[cfg(feature = "worker")]
#[doc = include_str!("docs/in_doubt.md")]
pub mod _in_doubt {}

#[cfg(feature = "worker")]
#[doc = include_str!("docs/decisions.md")]
pub mod _decisions {}

#[doc = include_str!("docs/specification.md")]
pub mod _specification {}

#[doc = include_str!("docs/architecture.md")]
pub mod _architecture {}

#[cfg(feature = "durable")]
pub use id::{Id, InvalidText};
#[doc = include_str!("docs/machine.md")]
pub use machine_derive::machine;

// For `#[derive(crate::ToSchema)]`.
#[cfg(not(feature = "openapi"))]
use machine_derive::NoSchema as ToSchema;
#[cfg(feature = "openapi")]
use utoipa::ToSchema;
