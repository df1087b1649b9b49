//! The agent: from a message to a summary, with a plan that a person confirms.
//!
//! [`model`] is the plan as data, [`job`] the machine, and [`work`] what it has done. A state makes
//! calls, which only [`hands`] carry out, and only with the [`consent`] of a person. A planner says
//! what to do, and [`agent`] does the work of each state. An [`attempt`] at that can fail.

pub mod agent;
pub mod attempt;
pub mod consent;
pub mod hands;
pub mod job;
pub mod model;
pub mod trouble;
pub mod work;
