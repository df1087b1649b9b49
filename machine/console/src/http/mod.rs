#![doc = include_str!("../docs/http.md")]

mod access;
mod act;
mod acts;
mod approvals;
mod caller;
mod change;
mod definitions;
mod events;
mod executions;
mod extract;
mod feed;
mod guard;
mod health;
mod host;
mod json;
mod lists;
mod machines;
mod page;
mod problem;
mod questions;
mod receipts;
mod report;
mod router;
mod schema;
mod server;
mod state;
mod withhold;

pub use access::{Access, InvalidToken};
pub use host::InvalidHost;
pub use server::serve;
pub use state::Http;
