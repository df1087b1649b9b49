//! The rules alone, explored: every order of steps of one payment and one retry of it.

use std::collections::HashSet;

use super::{
    reference::{Model, SETTLING, WORKERS},
    step::{Asks, At, Said, Step},
};

/// A state of the world: the model, and how often was paid.
#[derive(Debug, Clone)]
struct World {
    model: Model,
    paid: usize,
}

/// The steps of one attempt, without an override.
fn steps_of(at: At) -> Vec<Step> {
    let mut steps = vec![
        Step::Retry(at),
        Step::Begin(at, 0),
        Step::Call(at),
        Step::Send(at),
        Step::Arrive(at),
        Step::Drop(at),
        Step::Release(at),
        Step::ConfirmNotApplied(at),
        Step::AskBank(at),
        Step::Report(at, Said::Receipt),
        Step::Report(at, Said::Refusal),
    ];
    let said = [
        Said::Receipt,
        Said::Refusal,
        Said::Accepted,
        Said::Unknown,
        Said::StillRunning,
        Said::Panic,
    ];
    steps.extend(said.map(|said| Step::Answer(at, said)));
    steps
}

/// Explores all states. Returns how many there are, or the first one in which it was paid twice.
fn explore(sees_processes: bool, confined: bool, forgets_cut_off: bool) -> Result<usize, World> {
    let model = Model {
        now: 0,
        sees_processes,
        forgets_cut_off,
        attempts: Vec::new(),
        lives: [0; WORKERS],
        answer: super::step::Answer::Done,
    };
    let plan = Step::Plan { key: 0, gate: Asks::Never, impatient: false, confined };
    let mut open = vec![World { model: model.after(&plan), paid: 0 }];
    let mut seen = HashSet::new();
    while let Some(World { model, paid }) = open.pop() {
        let mut steps = vec![Step::Recover(None), Step::Recover(Some(0)), Step::Crash(0)];
        if model.now < 3 * SETTLING {
            steps.push(Step::Wait(u16::try_from(SETTLING).unwrap()));
        }
        steps.extend((0..model.attempts.len()).flat_map(steps_of));
        for step in steps.into_iter().filter(|step| model.can(step)) {
            if matches!(step, Step::Retry(_)) && model.attempts.len() == 2
                || matches!(step, Step::Crash(_)) && model.lives[0] == 1
            {
                continue;
            }
            let next = model.clone().after(&step);
            let paid = paid + usize::from(matches!(step, Step::Arrive(_)));
            let world = World { model: next, paid };
            if world.paid > 1 {
                return Err(world);
            }
            let Model { now, attempts, lives, .. } = &world.model;
            if seen.insert((*now, attempts.clone(), *lives, paid)) {
                open.push(world);
            }
        }
    }
    Ok(seen.len())
}

#[test]
fn no_order_of_steps_pays_twice() {
    for sees_processes in [false, true] {
        for confined in [false, true] {
            let states = explore(sees_processes, confined, false);
            let states = states.unwrap_or_else(|world| panic!("it was paid twice: {world:#?}"));
            eprintln!("processes {sees_processes}, confined {confined}: {states} states");
            assert!(states > 1000, "hardly anything happened");
        }
    }
}

/// The twin takes a call that was cut off for one that has ended.
#[test]
fn a_twin_that_forgets_what_was_cut_off_pays_twice() {
    assert!(explore(false, false, true).is_err());
    assert!(explore(true, false, true).is_err());
}
