//! The store under test, its workers, and the people.

use std::{fs::File, marker::PhantomData, path::PathBuf, time::Duration};

use machine::{
    Id,
    contract::{
        AnyExecution, Applied, CallbackToken, Contract, Execution, Planned, Tool, service_fn,
    },
    store::{OpenOptions, Store},
};
use machine_tests::{
    actors::{ann, reasoning_node, tool_node},
    stores::new_file,
};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use serde::{Deserialize, Serialize};

use super::{
    call::InHand,
    reference::{KEYS, Model, SETTLING, WORKERS},
    step::{At, Step},
};
use crate::{effects::support::stored, store::support::Hand};

pub(super) struct System<R> {
    inner: Inner,
    runtime: tokio::runtime::Runtime,
    reference: PhantomData<R>,
}

pub(super) struct Inner {
    pub(super) time: Hand,
    /// None in memory.
    file: Option<(tempfile::TempDir, PathBuf)>,
    options: OpenOptions,
    /// People and the operator use this one.
    pub(super) observer: Store,
    pub(super) workers: Vec<Store>,
    pub(super) attempts: Vec<Known>,
    /// The locks of the workers, as far as they have made a call.
    pub(super) locks: [Option<File>; WORKERS],
    /// The number of times that each key was paid.
    pub(super) paid: [usize; KEYS],
    /// For each key one execution that is never begun, to ask whether it could be. The last one can
    /// never be begun, because its key was applied.
    pub(super) probes: Vec<Option<Planned<Pay>>>,
}

pub(super) struct Known {
    pub(super) id: Id,
    pub(super) gate: Option<Id>,
    pub(super) in_hand: InHand,
    /// The token that the bank got with the request.
    pub(super) token: Option<CallbackToken>,
}

/// A payment that can be on its way for a while, and that the bank may accept and report later.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.pay, answers_later, timeout = None, settling_time = Duration::from_millis(SETTLING.unsigned_abs()))]
pub(super) struct Pay {
    to: String,
}

/// To pay under a key.
pub(super) fn contract(key: usize, impatient: bool) -> Contract {
    let contract = Contract::of(&Pay { to: key.to_string() }, reasoning_node()).unwrap();
    if impatient { contract.timeout_after(Duration::ZERO) } else { contract }
}

impl<R: ReferenceStateMachine<State = Model, Transition = Step>> StateMachineTest for System<R> {
    type SystemUnderTest = Self;
    type Reference = R;

    fn init_test(model: &Model) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let inner = runtime.block_on(Inner::start(model));
        Self { runtime, inner, reference: PhantomData }
    }

    /// The model is the one after the step.
    fn apply(mut system: Self, model: &Model, step: Step) -> Self {
        system.runtime.block_on(system.inner.check(model, step));
        system
    }

    fn teardown(mut system: Self, model: Model) {
        system.runtime.block_on(system.inner.end(model));
    }
}

impl Inner {
    async fn start(model: &Model) -> Self {
        let time = Hand::at(machine::clock::now());
        let options = OpenOptions::new().machine::<AnyExecution>().clock(time.clone());
        let (file, observer) = if model.sees_processes {
            let (folder, file) = new_file();
            let observer = options.sqlite(&file).await.unwrap();
            (Some((folder, file)), observer)
        } else {
            (None, options.memory())
        };
        let mut probes = Vec::new();
        for key in 0..=KEYS {
            // A person has decided, so that only the key matters.
            let failed = Execution::new(contract(key, false)).start(tool_node());
            let failed = failed.fail("never".to_owned(), None, tool_node());
            probes.push(Some(stored(&observer, Contract::retry(&failed, ann())).await));
        }
        let done: Planned<Pay> = stored(&observer, contract(KEYS, false)).await;
        let pays = service_fn(|_| Box::pin(async { Ok(Applied::new("receipt")) }));
        let _ = observer.perform(done, pays, tool_node()).await.unwrap();
        let mut inner = Self {
            time,
            file,
            options,
            workers: vec![observer.clone(); WORKERS],
            observer,
            attempts: Vec::new(),
            locks: Default::default(),
            paid: [0; KEYS],
            probes,
        };
        for worker in 0..WORKERS {
            inner.start_worker(worker).await;
        }
        inner
    }

    pub(super) async fn start_worker(&mut self, worker: usize) {
        if let Some((_, file)) = &self.file {
            self.workers[worker] = self.options.sqlite(file).await.unwrap();
        }
    }

    pub(super) fn worker_of(&self, model: &Model, at: At) -> Store {
        self.workers[model.attempts[at].worker.unwrap().0].clone()
    }

    pub(super) fn take(&mut self, at: At) -> InHand {
        std::mem::replace(&mut self.attempts[at].in_hand, InHand::Nothing)
    }
}
