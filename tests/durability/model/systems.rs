//! The stores and their machines.

use std::path::PathBuf;

use machine::{
    Id,
    effects::{EffectError, StateError},
    store::{CommitError, OpenOptions, Store},
    stored::Durable,
    typed::Reason,
};
use machine_tests::{
    actors::graph_runner,
    hand::{Hand, START},
};
use proptest_state_machine::StateMachineTest;

use super::{
    event::{Event, on_typed_path},
    reference::{Answer, Model, Step},
};
use crate::{
    machines::{AnyTask, Task, task},
    support::{assert_file_intact, assert_intact, block_on, new_file},
};

/// The systems under test: both stores, and both paths on each.
pub(super) struct Systems {
    pub(super) time: Hand,
    pub(super) all: Vec<System>,
    pub(super) _folders: Vec<tempfile::TempDir>,
}

pub(super) struct System {
    pub(super) name: &'static str,
    pub(super) typed: bool,
    pub(super) options: OpenOptions,
    pub(super) file: Option<PathBuf>,
    pub(super) store: Store,
    /// Another handle, like in another process.
    pub(super) other: Store,
    pub(super) machines: Vec<(Id, AnyTask)>,
}

impl StateMachineTest for Systems {
    type SystemUnderTest = Self;
    type Reference = Model;

    fn init_test(_: &Model) -> Self {
        let time = Hand::at(START);
        let options = OpenOptions::new().machine::<AnyTask>().clock(time.clone());
        let mut folders = Vec::new();
        let mut all = Vec::new();
        for (name, typed) in [("memory, typed", true), ("memory, erased", false)] {
            let store = options.memory();
            let (other, options) = (store.clone(), options.clone());
            let machines = Vec::new();
            all.push(System { name, typed, options, file: None, store, other, machines });
        }
        for (name, typed) in [("SQLite, typed", true), ("SQLite, erased", false)] {
            let (folder, file) = new_file();
            folders.push(folder);
            let store = block_on(options.sqlite(&file)).unwrap();
            let other = block_on(options.sqlite(&file)).unwrap();
            let options = options.clone();
            let (machines, file) = (Vec::new(), Some(file));
            all.push(System { name, typed, options, file, store, other, machines });
        }
        Self { time, all, _folders: folders }
    }

    fn apply(mut systems: Self, model: &Model, step: Step) -> Self {
        systems.time.set(model.now);
        for system in &mut systems.all {
            let answer = block_on(system.step(step.clone()));
            assert_eq!(answer, model.answer, "{}: {step:?}", system.name);
        }
        systems
    }

    fn check_invariants(systems: &Self, model: &Model) {
        for system in &systems.all {
            block_on(system.compare(model));
        }
    }

    fn teardown(systems: Self, _: Model) {
        for system in systems.all {
            block_on(async {
                assert_intact(&system.store).await;
                system.other.close().await.unwrap();
                if let Some(file) = system.file {
                    system.store.close().await.unwrap();
                    assert_file_intact(&file);
                }
            });
        }
    }
}

impl System {
    async fn step(&mut self, step: Step) -> Answer {
        let len = self.machines.len();
        match step {
            Step::Create => {
                let task = Task::new();
                self.machines.push((task.id(), task.into()));
            }
            Step::Move(at, event) => {
                let (id, task) = self.machines.swap_remove(at.index(len));
                let (task, answer) = moved(self.typed, task, &event);
                self.put_back(at.index(len), (id, task));
                return answer;
            }
            Step::Fire(at, trigger) => {
                let (id, task) = self.machines.swap_remove(at.index(len));
                let (task, answer) = match task.fire_deadline(trigger, self.store.now()) {
                    Ok(task) => (task, Answer::Done),
                    Err(refused) => {
                        let answer = match refused.reason.reason() {
                            Reason::NoDeadline => Answer::NoDeadline,
                            Reason::NotDue(_) => Answer::NotDue,
                            other => panic!("{other:?}"),
                        };
                        (refused.machine, answer)
                    }
                };
                self.put_back(at.index(len), (id, task));
                return answer;
            }
            Step::Commit(at) => {
                let (id, mut task) = self.machines.swap_remove(at.index(len));
                let written = self.commit(&mut task).await;
                self.put_back(at.index(len), (id, task));
                return answer_of(written);
            }
            Step::CommitBoth(one, other) => {
                let mut batch = self.store.batch();
                let both = [one.index(len), other.index(len)];
                for (at, (_, task)) in self.machines.iter_mut().enumerate() {
                    if both.contains(&at) {
                        let new = task.journal().version() == 0;
                        batch = if new { batch.create(task) } else { batch.commit(task) };
                    }
                }
                return answer_of(batch.write().await);
            }
            Step::Load(at) => {
                let (id, task) = &mut self.machines[at.index(len)];
                *task = self.store.load(*id).await.unwrap();
            }
            Step::Resume(at, state) => {
                let (id, task) = &mut self.machines[at.index(len)];
                let (id, store) = (*id, &self.store);
                let resumed = match state {
                    0 => store.resume::<task::Idle>(id).await.map(AnyTask::from),
                    1 => store.resume::<task::First>(id).await.map(AnyTask::from),
                    2 => store.resume::<task::Second>(id).await.map(AnyTask::from),
                    3 => store.resume::<task::Stopped>(id).await.map(AnyTask::from),
                    _ => store.resume::<task::Done>(id).await.map(AnyTask::from),
                };
                match resumed {
                    Ok(resumed) => *task = resumed,
                    Err(StateError::OtherState { .. }) => return Answer::OtherState,
                    Err(error) => panic!("{error}"),
                }
            }
            Step::Overtake(at, event) => {
                let (id, _) = self.machines[at.index(len)];
                let task: AnyTask = self.other.load(id).await.unwrap();
                let (mut task, answer) = moved(self.typed, task, &event);
                self.other.commit(&mut task).await.unwrap();
                return answer;
            }
            Step::Reopen => {
                if let Some(file) = &self.file {
                    self.store.close().await.unwrap();
                    self.store = self.options.sqlite(file).await.unwrap();
                }
            }
            Step::Wait(_) => {}
        }
        Answer::Done
    }

    fn put_back(&mut self, at: usize, machine: (Id, AnyTask)) {
        self.machines.push(machine);
        let last = self.machines.len() - 1;
        self.machines.swap(at, last);
    }

    /// Commits a machine as its typed or as its erased type.
    async fn commit(&self, task: &mut AnyTask) -> Result<(), EffectError> {
        match task {
            task if !self.typed => write(&self.store, task).await,
            AnyTask::Idle(task) => write(&self.store, task).await,
            AnyTask::First(task) => write(&self.store, task).await,
            AnyTask::Second(task) => write(&self.store, task).await,
            AnyTask::Stopped(task) => write(&self.store, task).await,
            AnyTask::Done(task) => write(&self.store, task).await,
        }
    }
}

/// Moves the machine on the typed or on the erased path.
fn moved(typed: bool, task: AnyTask, event: &Event) -> (AnyTask, Answer) {
    let moved = if typed {
        on_typed_path(event.clone(), task)
    } else {
        task.apply(event.clone(), graph_runner()).map_err(|refused| refused.machine)
    };
    match moved {
        Ok(task) => (task, Answer::Done),
        Err(task) => (task, Answer::Refused),
    }
}

async fn write<M: Durable>(store: &Store, machine: &mut M) -> Result<(), EffectError> {
    match machine.journal().version() {
        0 => store.create(machine).await,
        _ => store.commit(machine).await,
    }
}

fn answer_of(written: Result<(), EffectError>) -> Answer {
    match written {
        Ok(()) => Answer::Done,
        Err(EffectError::Commit(CommitError::Conflict { .. })) => Answer::Conflict,
        Err(error) => panic!("{error}"),
    }
}
