//! An answer is for one intervention. A message waits until a state takes it, so a second click would
//! otherwise answer the next question, which nobody has seen.

use std::fmt;

use crate::workflow::workflow::ManualIntervention;

/// The answer to another intervention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stale {
    answered: u32,
    current: u32,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answered, current } = self;
        write!(f, "this answers intervention {answered}, and the engine asks {current}")
    }
}

impl std::error::Error for Stale {}

fn answers(asked: &ManualIntervention, intervention: u32) -> Result<(), Stale> {
    if asked.intervention == intervention {
        return Ok(());
    }
    Err(Stale { answered: intervention, current: asked.intervention })
}

/// Guards `user_resume`.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards borrow the payload")]
pub fn resumes(asked: &ManualIntervention, intervention: &u32) -> Result<(), Stale> {
    answers(asked, *intervention)
}

/// Guards `user_modify`.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards borrow the payload")]
pub fn modifies(asked: &ManualIntervention, intervention: &u32, _: &str) -> Result<(), Stale> {
    answers(asked, *intervention)
}

/// Guards `user_terminate`.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards borrow the payload")]
pub fn terminates(asked: &ManualIntervention, intervention: &u32, _: &str) -> Result<(), Stale> {
    answers(asked, *intervention)
}
