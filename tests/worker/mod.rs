//! The worker: machines that are driven, messages that wait, deadlines that fire.

mod approved;
#[cfg(unix)]
mod blocked;
mod callback;
mod calls;
mod children;
mod clock;
mod commit_panics;
mod correlation;
mod crew;
mod deadlines;
mod doorbell;
mod edited;
mod executions;
mod fairness;
mod handlers;
mod identity;
mod idle;
mod in_time;
mod inbox_limit;
mod invoked;
mod leave;
mod messages;
mod misfits;
mod others;
mod own_calls;
mod parents_first;
pub(crate) mod prelude;
mod questions;
mod refused;
mod schema;
mod self_sends;
mod stuck;
mod visits;

#[cfg(unix)]
mod frozen;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
pub(crate) mod process;
#[cfg(unix)]
mod stopped;
#[cfg(unix)]
mod suspects;
#[cfg(unix)]
mod versions;
