#![doc = include_str!("../docs/http.md")]

mod access;
mod acts;
mod approvals;
mod caller;
mod change;
mod definitions;
mod ecs;
mod events;
mod executions;
mod extract;
mod feed;
mod guard;
mod health;
mod json;
mod machines;
mod operations;
mod page;
mod problem;
mod report;
mod router;
mod schema;
mod server;
mod sessions;
mod sign_in;
mod steps;
mod withhold;

pub use access::{Access, InvalidToken};
pub use guard::InvalidHost;
pub use router::Http;
pub use server::{ServeError, serve};
#[cfg(feature = "cli")]
pub(crate) use sign_in::random;
pub use sign_in::{Codes, NoRandomness};
