//! Events, as senders and workers make them.

use super::prelude::*;
use crate::store::inbox::protocol::{AfterMove, Claim, Fail, Fault, MovedBy};

/// The time of every batch, and of all events without another time.
pub(super) const NOW: Millis = 1_700_000_000_000;

/// The maximum number of tries.
pub(super) const MAX_ATTEMPTS: u32 = 2;

/// A clock that always says this.
#[derive(Debug)]
pub(super) struct Fixed(pub(super) Millis);

impl Clock for Fixed {
    fn now(&self) -> Millis {
        self.0
    }
}

pub(super) fn outgoing(correlation: &str) -> Outgoing {
    Outgoing {
        correlation: correlation.to_owned(),
        actor: "human".to_owned(),
        name: Some("ann".to_owned()),
        body: format!(r#"{{"trigger":"resume","of":"{correlation}"}}"#),
        seen: (correlation == "a").then_some(3),
    }
}

pub(super) fn events<const N: usize>(id: Id, events: [Event; N]) -> WriteBatch {
    WriteBatch { events: events.map(|event| (id, event)).into(), ..batch([]) }
}

pub(super) fn send(correlation: &str) -> Event {
    Event::Send { message: Arc::new(outgoing(correlation)), now: NOW }
}

/// A claim by a worker that has read this token, for a second.
pub(super) fn claim(worker: &str, token: u64, now: Millis, on: Attempted) -> Event {
    let (worker, until) = (worker.to_owned(), now + 1000);
    let max_attempts = MAX_ATTEMPTS;
    Event::Claim(Claim { worker, token, now, until, on, max_attempts, ..Claim::default() })
}

pub(super) fn moved(token: u64, handled: Option<&str>) -> Event {
    let (handled, refused) = (handled.map(str::to_owned), Vec::new());
    Event::Moved(Moved {
        token,
        revision: 0,
        by: MovedBy::Input,
        handled,
        refused,
        next: AfterMove::Yield { now: NOW },
        max_attempts: MAX_ATTEMPTS,
    })
}

pub(super) fn park(token: u64, revision: u64, wake: Option<Wake>) -> Event {
    let on = Attempted::State;
    Event::Wait(Wait { token, revision, now: NOW, on, wake, ..Wait::default() })
}

pub(super) fn fail(token: u64, on: Attempted, error: &str) -> Event {
    Event::Fail(Fail {
        token,
        on,
        fault: Fault::new(Cause::Failed, error),
        revision: 0,
        now: NOW,
        retry_at: NOW,
        due_at: None,
        others_at: None,
        max_attempts: MAX_ATTEMPTS,
        hopeless: false,
    })
}

pub(super) fn requeue(messages: &[&str]) -> Event {
    Event::Requeue { now: NOW, messages: owned(messages) }
}

impl Subject {
    /// Claims a machine that is ready, no matter who had it; returns the token and the revision.
    pub(super) async fn claims(&self, id: Id, on: Attempted) -> Kept<(u64, u64)> {
        let token = self.has_work(id).await?.token;
        match self.apply_event(id, claim("worker", token, NOW, on)).await? {
            EventOutcome::Claimed { token, revision } => Ok((token, revision)),
            other => Err(format!("a claim of {id} is answered with {other:?}")),
        }
    }

    /// Lets a machine wait, with everything seen.
    pub(super) async fn parks(&self, id: Id, wake: Option<Wake>) -> Kept {
        let (token, revision) = self.claims(id, Attempted::Recheck).await?;
        self.apply_event(id, park(token, revision, wake)).await.map(drop)
    }
}
