//! The model: what happened, and what the store and the people can know of it.

use std::{fmt::Debug, time::Duration};

use machine::clock::Millis;
use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;

use super::step::{Answer, Said, Step};

/// The number of payments, the number of workers, and the maximum number of attempts in a history.
pub(super) const KEYS: usize = 3;
pub(super) const WORKERS: usize = 2;
pub(super) const ATTEMPTS: usize = 12;

/// The time that a request can be on its way after its worker has ended.
pub(super) const SETTLING: Millis = 1000;

/// The time limit of the bank for a report about an accepted request.
pub(super) const LIMIT: Duration = Duration::from_millis(1500);

#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) now: Millis,
    /// True if other processes see only whether a worker's process is alive, not its calls.
    pub(super) sees_processes: bool,
    /// A broken twin: a call whose future is gone counts as over.
    pub(super) forgets_cut_off: bool,
    pub(super) attempts: Vec<Attempt>,
    /// The number of times that each worker was started again.
    pub(super) lives: [u32; WORKERS],
    /// The expected answer of the last step.
    pub(super) answer: Answer,
}

/// One attempt at a payment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(super) struct Attempt {
    pub(super) key: usize,
    pub(super) impatient: bool,
    /// Its service promises that nothing runs without its future and its guard.
    pub(super) confined: bool,
    pub(super) gate: Option<Gate>,
    pub(super) status: Status,
    pub(super) call: Call,
    /// A part of the call, apart from its future, has a guard.
    pub(super) guarded: bool,
    /// It has sent its last report.
    pub(super) said: bool,
    /// The worker that has begun it, in which of its lives.
    pub(super) worker: Option<(usize, u32)>,
    /// An impatient caller does not wait past this.
    pub(super) expires_at: Option<Millis>,
    pub(super) fenced: bool,
    pub(super) request: Request,
    /// When the call was over, even if that is not known yet.
    pub(super) over_at: Option<Millis>,
    // Knowledge of the store.
    /// The bank has accepted it, and reports until then.
    pub(super) accepted: Option<Millis>,
    pub(super) receipt: bool,
    /// A refusal that came late.
    pub(super) refusal: bool,
    /// A refusal that settled it.
    pub(super) refused: bool,
    pub(super) seen_over_at: Option<Millis>,
    /// Evidence that arrived after the others had moved on.
    pub(super) late: Vec<Said>,
    // Actions of people.
    pub(super) says_applied: bool,
    pub(super) overridden: bool,
    pub(super) approved: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Status {
    Pending,
    Running,
    /// For the report of the bank.
    Waiting,
    InDoubt,
    Completed,
    Failed,
    Cancelled,
}

/// Where the call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Call {
    NotBegun,
    /// The worker has its permit.
    Permitted,
    /// The service is in it.
    In,
    /// Its future was dropped, and the process is alive: the work that it started may still be
    /// running.
    CutOff,
    Over,
}

/// Where the request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Request {
    NotSent,
    OnItsWay,
    /// The bank has refused it, and refuses whatever else comes with its token.
    Refused,
    /// It was paid.
    Arrived,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Gate {
    /// When it can no longer be answered, and its approval no longer be used.
    pub(super) until: Option<Millis>,
    pub(super) answer: Reply,
    /// When a person answered it.
    pub(super) answered_at: Option<Millis>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reply {
    Waiting,
    Approved,
    Declined,
    /// Withdrawn, or expired.
    Ended,
}

impl Model {
    fn start(sees_processes: bool) -> BoxedStrategy<Self> {
        let (now, lives) = (machine::clock::now(), [0; WORKERS]);
        let attempts = Vec::new();
        Just(Self {
            now,
            sees_processes,
            forgets_cut_off: false,
            attempts,
            lives,
            answer: Answer::Done,
        })
        .boxed()
    }
}

macro_rules! backend {
    ($(#[$doc:meta])* $name:ident, $sees_processes:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $name;

        impl ReferenceStateMachine for $name {
            type State = Model;
            type Transition = Step;

            fn init_state() -> BoxedStrategy<Model> {
                Model::start($sees_processes)
            }

            fn transitions(model: &Model) -> BoxedStrategy<Step> {
                model.steps()
            }

            fn preconditions(model: &Model, step: &Step) -> bool {
                model.can(step)
            }

            fn apply(model: Model, step: &Step) -> Model {
                model.after(step)
            }
        }
    };
}

backend! {
    /// One process: it knows each of its calls.
    OnMemory, false
}

backend! {
    /// Each worker is a separate process, and so is the observer.
    OnSqlite, true
}
