//! Events, as senders and workers make them.

use std::sync::Arc;

use super::subject::Subject;
use crate::{
    clock::Millis,
    id::Id,
    store::inbox::{
        message::Outgoing,
        protocol::{Cause, Claim, Event, Fail, Fault, Moved, Next, On, Outcome, Park},
    },
};

/// The time of every batch, and of all events without another time.
pub(super) const NOW: Millis = 1_700_000_000_000;

/// The maximum number of tries.
pub(super) const MOST: u32 = 2;

pub(super) fn outgoing(correlation: &str) -> Outgoing {
    Outgoing {
        correlation: correlation.to_owned(),
        actor: "human".to_owned(),
        name: Some("ann".to_owned()),
        body: format!(r#"{{"trigger":"resume","of":"{correlation}"}}"#),
        seen: (correlation == "a").then_some(3),
    }
}

pub(super) fn send(correlation: &str) -> Event {
    Event::Send { message: Arc::new(outgoing(correlation)), now: NOW }
}

/// A claim by a worker that has read this token, for a second.
pub(super) fn claim(worker: &str, token: u64, now: Millis, on: On) -> Event {
    let until = now + 1000;
    let worker = worker.to_owned();
    Event::Claim(Claim { worker, token, now, until, holder_ended: false, on, most: MOST })
}

pub(super) fn moved(token: u64, handled: Option<&str>) -> Event {
    let (handled, refused) = (handled.map(str::to_owned), Vec::new());
    Event::Moved(Moved { token, handled, refused, next: Next::Yield { now: NOW }, most: MOST })
}

pub(super) fn park(token: u64, news: u64, wake_at: Option<Millis>) -> Event {
    let (refused, kept) = (Vec::new(), Vec::new());
    let (on, sends_itself, due_at) = (On::State, false, None);
    Event::Park(Park { token, news, now: NOW, on, sends_itself, wake_at, due_at, refused, kept })
}

pub(super) fn fail(token: u64, on: On, error: &str) -> Event {
    Event::Fail(Fail {
        token,
        on,
        fault: Fault::new(Cause::Failed, error),
        news: 0,
        now: NOW,
        retry_at: NOW,
        due_at: None,
        most: MOST,
        hopeless: false,
    })
}

impl Subject {
    /// Claims a machine that is ready, no matter who had it; returns the token and the news.
    pub(super) async fn claims(&self, id: Id, on: On) -> Result<(u64, u64), String> {
        let token = self.work(id).await?.ok_or("it has no work")?.token;
        match self.happens(id, claim("worker", token, NOW, on)).await? {
            Outcome::Claimed { token, news } => Ok((token, news)),
            other => Err(format!("a claim of {id} is answered with {other:?}")),
        }
    }

    /// Lets a machine wait, with everything seen.
    pub(super) async fn parks(&self, id: Id, wake_at: Option<Millis>) -> Result<(), String> {
        let (token, news) = self.claims(id, On::Look).await?;
        self.happens(id, park(token, news, wake_at)).await.map(drop)
    }
}
