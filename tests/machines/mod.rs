//! Machines of all kinds in one language, each compared with the table of its source.

mod definitions;
mod device_flow;
mod first_use;
mod foreign;
mod http2_stream;
mod microwave;
mod orchestrator;
mod payment_intent;
mod raft;
mod source;
mod tcp;
mod turn;
mod workflow;
