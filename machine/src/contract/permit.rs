use std::{fmt, panic::AssertUnwindSafe, sync::Mutex};

use futures_util::{
    FutureExt,
    future::{Either, select},
};

use super::{
    Attempt, Call, Callable, CallbackToken, Contract, Evidence, Perform, Token, Unsettled,
    answer::Answered,
    in_flight::{CallHandle, Started},
};
use crate::{clock::Millis, future::BoxFuture, language::Phrase};

/// The right to perform one irreversible action, once.
///
/// Only [`Store::begin`] issues permits, after RUNNING and the hold on the key are on disk. A
/// permit is bound to its store, execution, key and token, cannot be cloned or stored, and is lent
/// to the service for the duration of one call. Dropping it unanswered leaves its execution in
/// doubt.
///
/// [`Store::begin`]: crate::store::Store::begin
#[must_use = "a permit that is dropped leaves its execution in doubt"]
pub struct Permit<T> {
    call: Call<T>,
}

impl<T: Callable> Permit<T> {
    pub(crate) fn new(
        arguments: T,
        contract: &Contract,
        expires_at: Option<Millis>,
        callback: Option<CallbackToken>,
        handle: CallHandle,
    ) -> Self {
        let attempt = Attempt::new(arguments, handle.execution_id, contract);
        // The batch that issues the permit fills in the token.
        let (token, timeout) = (Token::new(0, 0), contract.timeout());
        Self { call: Call { attempt, token, expires_at, timeout, callback, handle } }
    }

    /// Performs the call under this permit.
    ///
    /// First asks the store whether the permit is still valid; if not, the service is not called.
    /// After the timeout of the contract, this stops waiting, and the outcome is unknown; the call
    /// itself keeps running, and [`Settled::TimedOut`](super::Settled::TimedOut) returns it, so
    /// that its late receipt is not lost. A panic makes the outcome unknown.
    // The future has a name, so that a wrong service makes one error, and not one for each
    // `.await`.
    pub fn call(self, service: impl Perform<T> + 'static) -> BoxFuture<'static, Unsettled> {
        Box::pin(self.called(service))
    }

    async fn called<S: Perform<T> + 'static>(self, service: S) -> Unsettled {
        let Self { call } = self;
        let (timeout, handle) = (call.timeout, call.handle.clone());
        let outcome = |Answered { evidence, accepted, .. }: Answered, late| {
            let open = handle.permit_check.open();
            Unsettled { evidence, accepted, late: Mutex::new(late), handle, _open: open }
        };
        let permit_check = &call.handle.permit_check;
        if let Err(reason) = permit_check.check(call.handle.execution_id, call.handle.epoch).await {
            let reason = format!("not started because the permit is invalid: {reason}");
            return outcome(Evidence::NotApplied(reason.into()).into(), None);
        }
        let sleep = timeout.map(|limit| permit_check.sleep(limit));
        let running: BoxFuture<'static, Answered> = Box::pin(async move {
            let started = Started::new(call.handle.clone(), S::CONFINED);
            // Unwind safe: the service's own state is its own affair, and the call is dropped.
            let answer = AssertUnwindSafe(async { service.perform(&call).await });
            let mut answered = Answered::of(answer.catch_unwind().await);
            // Without a token, nothing could report.
            answered.accepted = answered.accepted.filter(|_| call.callback.is_some());
            started.returned(answered)
        });
        let Some(sleep) = sleep else {
            return outcome(running.await, None);
        };
        match select(running, sleep).await {
            Either::Left((returned, _)) => outcome(returned, None),
            Either::Right(((), running)) => {
                // Without the limit, which is for diagnosis: people read the reason.
                let reason = Phrase::NoAnswerInTime.english().to_owned();
                let late: BoxFuture<'static, Evidence> =
                    Box::pin(running.map(|returned| returned.evidence));
                outcome(Evidence::Unknown(reason).into(), Some(late))
            }
        }
    }
}

impl<T> Permit<T> {
    pub(crate) fn set_token(&mut self, token: Token) {
        self.call.token = token;
    }

    pub(crate) fn handle(&self) -> CallHandle {
        self.call.handle.clone()
    }

    /// The attempt that the permit allows.
    #[must_use]
    pub fn attempt(&self) -> &Attempt<T> {
        &self.call.attempt
    }

    /// The fencing token. See [`Call::token`].
    #[must_use]
    pub fn token(&self) -> Token {
        self.call.token
    }
}

impl<T> fmt::Debug for Permit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Permit");
        debug.field("execution_id", &self.call.execution_id).field("token", &self.token());
        debug.finish_non_exhaustive()
    }
}
