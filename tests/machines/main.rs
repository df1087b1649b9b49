//! Machines of all kinds in the one language, each held against the table of its source.
#![allow(clippy::unwrap_used)]

mod device_flow;
mod execution;
mod foreign;
mod http2_stream;
mod orchestrator;
mod source;
mod tcp;
mod turn;
mod workflow;
