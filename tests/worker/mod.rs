//! The worker: machines that are driven, messages that wait, deadlines that fire.

mod asked;
mod basics;
#[cfg(unix)]
mod blocked;
mod callback;
mod calls;
mod children;
mod correlation;
mod crew;
mod deadlines;
mod doorbell;
mod edited;
mod executions;
mod fairness;
mod handlers;
mod identity;
mod leave;
mod messages;
mod misfits;
mod refused;
mod self_sends;
mod shop;
mod support;

#[cfg(unix)]
mod frozen;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod kinds;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod stay;
mod stopped;
mod stopping;
#[cfg(unix)]
mod suspects;
