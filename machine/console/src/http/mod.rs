#![doc = include_str!("../docs/http.md")]

mod access;
mod act;
mod acts;
mod approvals;
mod caller;
mod change;
mod codes;
mod definitions;
mod events;
mod executions;
mod extract;
mod feed;
mod guard;
mod health;
mod host;
mod json;
mod machines;
mod operations;
mod page;
mod problem;
mod questions;
mod receipts;
mod report;
mod router;
mod schema;
mod server;
mod sessions;
mod sign_in;
mod state;
mod withhold;

pub use access::{Access, InvalidToken};
#[cfg(feature = "cli")]
pub(crate) use codes::random;
pub use codes::{Codes, NoRandomness};
pub use host::InvalidHost;
pub use server::{ServeError, serve};
pub use state::Http;
