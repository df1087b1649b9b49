#![doc = include_str!("../docs/cli.md")]

mod acts;
mod backup;
mod calls;
mod check;
mod command;
mod confirm;
mod context;
mod decide;
mod duration;
mod error;
mod exit;
mod export;
mod file;
mod ids;
mod limit;
mod list;
mod on;
mod operations;
mod output;
mod person;
mod program;
mod progress;
mod prompt;
mod prune;
mod respond;
mod sees;
mod send;
#[cfg(feature = "http")]
mod serve;
mod show;
mod table;
mod terminal;
mod time;
mod timeline;
mod topology;
mod turns;
mod verify;
mod view_options;

pub use command::{Command, execute, run};
pub use context::Context;
pub use duration::{InvalidDuration, duration};
pub use error::Error;
pub use exit::Exit;
pub use program::main;
