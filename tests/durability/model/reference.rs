//! The reference model: the expected content of the stores.

use machine::clock::Millis;
use machine_tests::hand::START;
use proptest::{prelude::*, sample::Index};
use proptest_state_machine::ReferenceStateMachine;

use super::{
    event::{Event, events},
    state::Core,
};

/// The knowledge of the model: the machines, in the order in which they were made.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) now: Millis,
    pub(super) machines: Vec<Known>,
    /// The machines that are stored, in the order in which they were created.
    pub(super) order: Vec<usize>,
    /// The expected answer of the last step.
    pub(super) answer: Answer,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) stored: Option<Core>,
    /// The machine in the hands of the program. It may be stale.
    pub(super) local: Core,
    /// The number of stored entries of the local copy, as far as it knows.
    pub(super) base: usize,
}

/// The answer of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Answer {
    Done,
    Conflict,
    OtherState,
    NoDeadline,
    NotDue,
    /// The move is illegal, or its guard refused.
    Refused,
}

/// A step: something happens to the machines or the stores.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Create,
    Move(Index, Event),
    Fire(Index, &'static str),
    Commit(Index),
    CommitBoth(Index, Index),
    Load(Index),
    Resume(Index, usize),
    /// Another handle loads the machine, moves it and commits it.
    Overtake(Index, Event),
    Reopen,
    Wait(u16),
}

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        let model =
            Self { now: START, machines: Vec::new(), order: Vec::new(), answer: Answer::Done };
        Just(model).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        let machine = || any::<Index>();
        let create = Just(Step::Create);
        if model.machines.is_empty() {
            return create.boxed();
        }
        prop_oneof![
            2 => create,
            12 => (machine(), events()).prop_map(|(at, event)| Step::Move(at, event)),
            3 => (machine(), prop_oneof![Just("skip"), Just("give_up")])
                .prop_map(|(at, trigger)| Step::Fire(at, trigger)),
            10 => machine().prop_map(Step::Commit),
            3 => (machine(), machine()).prop_map(|(one, other)| Step::CommitBoth(one, other)),
            3 => machine().prop_map(Step::Load),
            2 => (machine(), 0..5_usize).prop_map(|(at, state)| Step::Resume(at, state)),
            4 => (machine(), events()).prop_map(|(at, event)| Step::Overtake(at, event)),
            1 => Just(Step::Reopen),
            3 => (0..1500_u16).prop_map(Step::Wait),
        ]
        .boxed()
    }

    fn preconditions(model: &Self, step: &Step) -> bool {
        match step {
            Step::Create => model.machines.len() < 4,
            Step::Reopen | Step::Wait(_) => true,
            Step::CommitBoth(one, other) => {
                let len = model.machines.len();
                len > 0 && one.index(len) != other.index(len)
            }
            Step::Move(at, _) | Step::Fire(at, _) | Step::Commit(at) => {
                !model.machines.is_empty() && at.index(model.machines.len()) < 4
            }
            Step::Load(at) | Step::Resume(at, _) | Step::Overtake(at, _) => {
                !model.machines.is_empty()
                    && model.machines[at.index(model.machines.len())].stored.is_some()
            }
        }
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        let len = model.machines.len();
        let now = model.now;
        model.answer = Answer::Done;
        match step {
            Step::Create => {
                model.machines.push(Known { local: Core::new(), ..Known::default() });
            }
            Step::Move(at, event) => {
                let known = &mut model.machines[at.index(len)];
                match known.local.apply(event) {
                    Some(core) => known.local = core,
                    None => model.answer = Answer::Refused,
                }
            }
            Step::Fire(at, trigger) => {
                let known = &mut model.machines[at.index(len)];
                let due = known.local.due.iter().find(|due| due.trigger == *trigger);
                model.answer = match due.map(|due| due.at) {
                    None => Answer::NoDeadline,
                    Some(at) if at.is_none_or(|at| at > now) => Answer::NotDue,
                    Some(_) => {
                        let event = if *trigger == "skip" { Event::Skip } else { Event::GiveUp };
                        known.local = known.local.apply(&event).unwrap();
                        Answer::Done
                    }
                };
            }
            Step::Commit(at) => model.commit(&[at.index(len)]),
            Step::CommitBoth(one, other) => model.commit(&[one.index(len), other.index(len)]),
            Step::Load(at) => model.load(at.index(len)),
            Step::Resume(at, state) => {
                let at = at.index(len);
                if model.machines[at].stored.as_ref().unwrap().state.index() == *state {
                    model.load(at);
                } else {
                    model.answer = Answer::OtherState;
                }
            }
            Step::Overtake(at, event) => {
                let stored = model.machines[at.index(len)].stored.as_mut().unwrap();
                match stored.apply(event) {
                    Some(mut core) => {
                        core.commit(now);
                        *stored = core;
                    }
                    None => model.answer = Answer::Refused,
                }
            }
            Step::Reopen => {}
            Step::Wait(ms) => model.now += Millis::from(*ms),
        }
        model
    }
}

impl Model {
    /// Writes all of them or none. One without new entries is not written at all.
    fn commit(&mut self, all: &[usize]) {
        let changed = |at: &&usize| {
            let known = &self.machines[**at];
            known.base == 0 || known.local.entries.len() > known.base
        };
        let mut all: Vec<usize> = all.iter().filter(changed).copied().collect();
        // In the order of the batch.
        all.sort_unstable();
        let stale = |at: &usize| {
            let known = &self.machines[*at];
            known.stored.as_ref().map_or(0, |stored| stored.entries.len()) != known.base
        };
        if all.iter().any(stale) {
            self.answer = Answer::Conflict;
            return;
        }
        for at in all {
            let known = &mut self.machines[at];
            known.local.commit(self.now);
            if known.base == 0 {
                self.order.push(at);
            }
            known.base = known.local.entries.len();
            known.stored = Some(known.local.clone());
        }
    }

    fn load(&mut self, at: usize) {
        let known = &mut self.machines[at];
        known.local = known.stored.clone().unwrap();
        known.base = known.local.entries.len();
    }
}
