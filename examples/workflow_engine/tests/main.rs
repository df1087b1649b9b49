//! The engine in this process, in virtual time; and the program, with real processes and signals.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]
#![allow(unreachable_pub, reason = "the modules of the program say `pub`")]

#[path = "../agent.rs"]
mod agent;
#[path = "../condition.rs"]
mod condition;
#[path = "../engine.rs"]
mod engine;
#[path = "../executing.rs"]
mod executing;
#[path = "../office.rs"]
mod office;
#[path = "../plan.rs"]
mod plan;
#[path = "../planning.rs"]
mod planning;
#[path = "../policy.rs"]
mod policy;
#[path = "../record.rs"]
mod record;
#[path = "../submit.rs"]
mod submit;
#[path = "../work.rs"]
mod work;
#[path = "../workflow.rs"]
mod workflow;

mod answers;
mod conditions;
mod crash;
mod http;
mod pause;
mod people;
mod program;
mod rows;
mod scenarios;
mod site;
mod table;
#[path = "../../testing.rs"]
mod testing;
mod world;
