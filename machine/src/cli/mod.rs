#![doc = include_str!("../docs/cli.md")]

mod answer;
mod cancel;
mod command;
mod confirm;
mod context;
mod decide;
mod error;
mod exit;
mod fence;
mod ids;
mod json;
mod list;
mod person;
mod program;
mod requeue;
mod retry;
mod send;
mod show;
mod table;
mod terminal;
mod time;
mod watch;

pub use command::{Command, run};
pub use context::Context;
pub use error::Error;
pub use exit::Exit;
pub use program::main;
