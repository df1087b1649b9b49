//! The calls of this process, and the state that effects keep with a store.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    contract::{CallRecord, Evidence},
    effects::identity::Identities,
    id::Id,
    process::Liveness,
    store::{handle::Store, process::worker_lock::WorkerLock},
};

pub(crate) struct EffectsState {
    pub(crate) calls: Arc<CallsInFlight>,
    pub(crate) identities: Identities,
}

impl Store {
    /// The state of effects, made with the first use.
    pub(super) fn effects(&self) -> &EffectsState {
        self.inner.attached(|| EffectsState {
            calls: Arc::new(CallsInFlight::new(Arc::clone(&self.inner.worker))),
            identities: Identities::default(),
        })
    }
}

/// The calls of this process whose end still matters to the store.
///
/// While such a call may take effect, the process keeps its lock, so that other processes do not
/// take it for ended.
pub(crate) struct CallsInFlight {
    worker: Arc<WorkerLock>,
    by_execution: Mutex<HashMap<Id, Vec<Arc<CallRecord>>>>,
}

impl CallsInFlight {
    fn new(worker: Arc<WorkerLock>) -> Self {
        Self { worker, by_execution: Mutex::default() }
    }

    /// Registers a call of `execution`. It may block.
    pub(crate) fn begin(&self, execution: Id, irreversible: bool) -> io::Result<Arc<CallRecord>> {
        self.worker.announce()?;
        let record = Arc::new(CallRecord::new(irreversible));
        let mut calls = self.lock();
        for records in calls.values_mut() {
            records.retain(|record| record.needs_proof());
        }
        calls.retain(|_, records| !records.is_empty());
        // An entry is added, not replaced: the loser of a race for an execution must not hide the
        // winner.
        calls.entry(execution).or_default().push(Arc::clone(&record));
        Ok(record)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, Vec<Arc<CallRecord>>>> {
        // Poisoning is harmless: the map is changed in single steps.
        self.by_execution.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn records(&self, execution: Id) -> Vec<Arc<CallRecord>> {
        self.lock().get(&execution).cloned().unwrap_or_default()
    }

    /// Checks whether a call of `execution` can still take effect, given the worker of its permit.
    /// It may block.
    pub(crate) fn liveness(&self, worker: &str, execution: Id) -> io::Result<Liveness> {
        if worker != self.worker.name() {
            return self.worker.liveness_of_process(worker);
        }
        let found = self.records(execution).iter().fold(Liveness::Ended, |worst, record| {
            match (worst, record.liveness()) {
                (Liveness::Alive, _) | (_, Liveness::Alive) => Liveness::Alive,
                (Liveness::CutOff, _) | (_, Liveness::CutOff) => Liveness::CutOff,
                _ => Liveness::Ended,
            }
        });
        Ok(found)
    }

    /// Removes the calls of `execution`: the store no longer depends on their end.
    pub(crate) fn forget(&self, execution: Id) {
        self.lock().remove(&execution);
    }

    /// The calls of `execution` that have an answer which may not be on disk.
    pub(crate) fn unwritten(&self, execution: Id) -> Vec<(Arc<CallRecord>, Evidence)> {
        let records = self.records(execution).into_iter();
        records.filter_map(|record| record.unwritten().map(|evidence| (record, evidence))).collect()
    }

    /// The executions whose calls have an answer which may not be on disk.
    pub(crate) fn with_unwritten(&self) -> Vec<Id> {
        let calls = self.lock();
        let is_unwritten = |records: &Vec<Arc<CallRecord>>| {
            records.iter().any(|record| record.unwritten().is_some())
        };
        calls.iter().filter(|(_, records)| is_unwritten(records)).map(|(id, _)| *id).collect()
    }
}

impl Drop for CallsInFlight {
    fn drop(&mut self) {
        let calls = self.by_execution.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut open = calls.values().flatten().filter(|record| record.needs_proof()).peekable();
        if open.peek().is_none() {
            return;
        }
        // Cut off, or with a receipt that could not be written.
        if open.any(|record| record.liveness() != Liveness::Ended) {
            self.worker.keep_lock();
        } else {
            self.worker.keep_file();
        }
    }
}
