use std::{
    fs::File,
    io,
    sync::{Arc, Weak},
    thread,
    time::Duration,
};

use crate::{
    actor::ToolNode,
    actor::who::who,
    clock::Clock,
    contract::{AnyExecution, CallRecord, Evidence, Owner, PermitCheck, Progress},
    future::BoxFuture,
    id::Id,
    store::{
        backend::Attempts,
        error::Unavailable,
        handle::{Inner, PROGRAM, Store},
        write::attempt::{CONTRACTS, KeyState, key_state},
    },
    telemetry,
};

/// The store, as a permit uses it. It does not keep the store open.
#[derive(Debug)]
pub(crate) struct StorePermitCheck {
    store: Weak<Inner>,
    /// Calls have time limits also if it was closed.
    clock: Arc<dyn Clock>,
    /// The holder of the permit.
    by: ToolNode,
}

impl StorePermitCheck {
    pub(crate) fn new(store: &Store, by: &ToolNode) -> Self {
        Self {
            store: Arc::downgrade(&store.inner),
            clock: Arc::clone(&store.inner.clock),
            by: by.again(),
        }
    }

    fn store(&self) -> Option<Store> {
        self.store.upgrade().map(|inner| Store { inner, via: PROGRAM, act: None })
    }
}

impl PermitCheck for StorePermitCheck {
    fn check(&self, execution: Id, epoch: u64) -> BoxFuture<'static, Result<(), String>> {
        let store = self.store();
        Box::pin(async move {
            let store = store.ok_or("its store was closed")?;
            let any: AnyExecution =
                store.load(execution).await.map_err(|error| error.to_string())?;
            if any.journal().epoch() != epoch || !Progress::of(&any).is_running_under(epoch) {
                return Err(format!(
                    "{execution} was fenced, or settled, since the permit was issued"
                ));
            }
            let contract = any.context();
            let Some(key) = contract.idempotency_key() else { return Ok(()) };
            // A receipt of an earlier attempt may have arrived since.
            let attempts = store.inner.backend.attempts(Attempts::OfKey(key.to_string())).await;
            let attempts: Result<Vec<_>, _> =
                attempts.map_err(|error| error.to_string())?.into_iter().collect();
            let attempts = attempts.map_err(|broken| broken.reason)?;
            if !contract.is_irreversible() {
                let used = attempts.iter().any(|attempt| attempt.space == CONTRACTS);
                return if used {
                    Err("it is irreversible in this store, but its contract says otherwise".into())
                } else {
                    Ok(())
                };
            }
            match key_state(&attempts, CONTRACTS, execution) {
                KeyState::Applied { by } => Err(format!("{by} has already performed it")),
                KeyState::Free | KeyState::Held { .. } => Ok(()),
            }
        })
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.clock.sleep(time)
    }

    fn keep(&self, execution: Id, epoch: u64, evidence: Evidence, record: &Arc<CallRecord>) {
        let Some(store) = self.store() else { return record.not_written() };
        let (by, kept) = (self.by.again(), Arc::clone(record));
        // This may be the thread of a client, or of a runtime that is shutting down.
        let thread = thread::Builder::new().name("machine-late".to_owned()).spawn(move || {
            loop {
                let written = store.keep_evidence(execution, epoch, &evidence, &kept, who(&by));
                match pollster::block_on(written) {
                    Ok(()) => break,
                    // A receipt is not given up, however long the file is busy or the disk is full.
                    Err(error)
                        if error.unavailable().is_some_and(|it| *it != Unavailable::Stopped) =>
                    {
                        thread::sleep(KEEP_AGAIN);
                    }
                    Err(error) => {
                        kept.not_written();
                        telemetry::CallLost { error: error.class() }.emit();
                        break;
                    }
                }
            }
        });
        if thread.is_err() {
            record.not_written();
        }
    }

    fn open(&self) -> Option<Owner> {
        self.store.upgrade().map(|inner| inner as Owner)
    }

    fn lock(&self) -> io::Result<Option<File>> {
        self.store().map_or(Ok(None), |store| store.inner.worker.lock_handle())
    }
}

/// The delay before another try to write evidence.
const KEEP_AGAIN: Duration = Duration::from_secs(1);
