//! Compares the stores with the model.

use std::collections::BTreeMap;

use machine::{
    Id,
    clock::Millis,
    journal::{Entry, Fact},
    store::{LoadError, Query},
};

use super::{
    reference::{Known, Model},
    state::{Core, State},
    systems::System,
};
use crate::{
    machines::{AnyTask, task},
    support::lines,
};

impl System {
    /// The store, the other handle and the machines are as the model says.
    pub(super) async fn compare(&self, model: &Model) {
        for store in [&self.store, &self.other] {
            let lines = lines(store, &Query::new()).await;
            let found: Vec<_> = lines
                .iter()
                .map(|line| (line.id, line.status.as_str(), line.version, line.due_at))
                .collect();
            let stored = |at: &usize| {
                let core = model.machines[*at].stored.as_ref().unwrap();
                let version = core.entries.len() as u64;
                (self.machines[*at].0, core.state.name(), version, core.due_at())
            };
            let expected: Vec<_> = model.order.iter().map(stored).collect();
            assert_eq!(found, expected, "{}: list", self.name);
        }
        // The most overdue first; of the same time, in the order in which they were created.
        let mut expected: Vec<_> = model
            .order
            .iter()
            .filter_map(|at| {
                let due = model.machines[*at].stored.as_ref().unwrap().due_at();
                due.filter(|due| *due <= model.now).map(|due| (due, self.machines[*at].0))
            })
            .collect();
        expected.sort_by_key(|(due, _)| *due);
        let due = lines(&self.store, &Query::new().due().limit(1)).await;
        let found: Vec<_> = due.iter().map(|line| (line.due_at.unwrap(), line.id)).collect();
        assert_eq!(found, expected, "{}: due", self.name);

        let mut by_status: BTreeMap<&str, Vec<Id>> = BTreeMap::new();
        for at in &model.order {
            let state = &model.machines[*at].stored.as_ref().unwrap().state;
            by_status.entry(state.name()).or_default().push(self.machines[*at].0);
        }
        for (status, expected) in by_status {
            let found = lines(&self.store, &Query::new().machine("task").status(status)).await;
            let found: Vec<_> = found.iter().map(|line| line.id).collect();
            assert_eq!(found, expected, "{}: {status}", self.name);
        }
        for (known, (id, task)) in model.machines.iter().zip(&self.machines) {
            self.compare_machine(known, *id, task).await;
        }
    }

    async fn compare_machine(&self, known: &Known, id: Id, task: &AnyTask) {
        assert_core(self.name, &known.local, task);
        let journal = task.journal();
        assert_eq!(journal.version(), known.base as u64, "{}", self.name);
        let uncommitted: Vec<_> = journal.uncommitted().iter().map(in_short).collect();
        assert_eq!(uncommitted, known.local.entries[known.base..], "{}", self.name);
        let Some(stored) = &known.stored else {
            let missing = self.store.load::<AnyTask>(id).await;
            assert!(matches!(missing, Err(LoadError::NotFound { .. })), "{missing:?}");
            return;
        };
        let history = self.store.history(id).await.unwrap();
        let history: Vec<_> = history.entries.iter().map(in_short).collect();
        assert_eq!(history, stored.entries, "{}", self.name);
        assert_core(self.name, stored, &self.store.load(id).await.unwrap());
        assert_core(self.name, stored, &self.other.load(id).await.unwrap());
    }
}

fn assert_core(name: &str, core: &Core, task: &AnyTask) {
    let state = match task {
        AnyTask::Idle(_) => State::Idle,
        AnyTask::First(task) => State::First(task.state().limit_ms, task.state().step),
        AnyTask::Second(task) => {
            let task::Second { limit_ms, step, score } = task.state();
            State::Second(*limit_ms, *step, *score)
        }
        AnyTask::Stopped(task) => State::Stopped(task.state().why.clone()),
        AnyTask::Done(task) => State::Done(task.state().score, task.state().step),
    };
    assert_eq!(state, core.state, "{name}");
    let due = |(trigger, at): (&str, Option<Millis>)| (trigger.to_owned(), at);
    let running = task.journal().deadlines().iter();
    let mut found: Vec<_> =
        running.map(|running| due((&running.trigger, running.due_at))).collect();
    let mut expected: Vec<_> =
        core.due.iter().map(|running| due((running.trigger, running.at))).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{name}");
}

/// The trigger of an entry and its payload.
fn in_short(entry: &Entry) -> String {
    match &entry.fact {
        Fact::Created { .. } => "created".to_owned(),
        Fact::Moved { trigger, payload, .. } => {
            format!("{trigger} {}", serde_json::to_string(payload).unwrap())
        }
        other => panic!("{other:?}"),
    }
}
