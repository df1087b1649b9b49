use std::{fmt, sync::Weak, time::Duration};

use super::{
    Store,
    attempt::{CONTRACTS, KeyState, key_state},
    backend::Attempts,
    handle::Inner,
};
use crate::{
    clock::uptime,
    contract::{AnyExecution, BoxFuture, Lender, Progress},
    id::Id,
};

/// What a permit asks of its store. It does not keep the store open.
pub(super) struct StoreLender(Weak<Inner>);

impl StoreLender {
    pub(super) fn new(store: &Store) -> Self {
        Self(std::sync::Arc::downgrade(&store.inner))
    }
}

impl Lender for StoreLender {
    fn check(&self, execution: Id, epoch: u64) -> BoxFuture<'static, Result<(), String>> {
        let store = self.0.upgrade().map(|inner| Store { inner });
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
                    Err("it is irreversible in this store, and its contract says otherwise".into())
                } else {
                    Ok(())
                };
            }
            match key_state(&attempts, CONTRACTS, execution) {
                KeyState::Applied { by } => Err(format!("{by} has already done it")),
                KeyState::Free | KeyState::Held { .. } => Ok(()),
            }
        })
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(sleep(time))
    }
}

impl fmt::Debug for StoreLender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreLender").finish_non_exhaustive()
    }
}

/// The longest time between two looks at the clock: timers stand still while the machine is
/// suspended, the clock does not.
const SLICE: Duration = Duration::from_secs(1);

/// Ends after this time, which counts while the machine is suspended.
pub(super) async fn sleep(time: Duration) {
    let started = uptime();
    loop {
        let left = time.saturating_sub(uptime().saturating_sub(started));
        if left.is_zero() {
            return;
        }
        async_io::Timer::after(left.min(SLICE)).await;
    }
}
