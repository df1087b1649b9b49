//! Of the messages with one correlation id, one is taken: that of the first sender, or after it was
//! set aside, a corrected one.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    store.drives(&["job"]).await?;
    let mut machine = Machine::job();
    store.accepts(machine.create()).await?;
    store.apply_event(machine.id(), send("a")).await?;
    // Other messages keep the rest of their batch from being written.
    for other in others() {
        store.rejects_other(machine.id(), [send("of the same batch"), sends(&other)]).await?;
    }
    are_replaced(&store, &mut machine).await
}

/// Other messages with this correlation id: of another event, or of another sender.
fn others() -> [Outgoing; 4] {
    let sent = || outgoing("a");
    [
        Outgoing { body: "{}".to_owned(), ..sent() },
        Outgoing { body: "no JSON".to_owned(), ..sent() },
        Outgoing { actor: "graph_runner".to_owned(), ..sent() },
        Outgoing { name: None, ..sent() },
    ]
}

/// A message that was set aside does not keep a corrected one away, and is never taken after it.
async fn are_replaced(store: &Subject, machine: &mut Machine) -> Kept {
    let (id, corrected) = (machine.id(), others());
    let mut expected = Vec::new();
    let mut aside = outgoing("a");
    for (round, other) in (1..).zip(&corrected) {
        let (token, revision) = store.claims(id, Attempted::Recheck).await?;
        let why = format!("no {round}");
        let refused = vec![("a".to_owned(), why.clone())];
        let park = Event::Wait(Wait { token, revision, now: NOW, refused, ..Wait::default() });
        store.apply_event(id, park).await?;
        // A repeat of the message that was set aside is a duplicate.
        store.answers(id, sends(&aside), EventOutcome::Duplicate).await?;
        store.answers(id, sends(other), EventOutcome::Done).await?;
        expected.push((aside, Delivery::Replaced, Some(why)));
        aside = other.clone();
        // The first one has lost its id.
        store.rejects_other(id, [send("a")]).await?;
        ensure!(store.queued(id).await? == ["a"], "the corrected message is not queued");
    }
    store.takes(machine, "a").await?;
    expected.push((aside, Delivery::Handled, None));
    // Nothing of it can be taken again.
    store.apply_event(id, requeue(&["a"])).await?;
    ensure!(store.queued(id).await?.is_empty(), "a message that was handled is queued again");
    for other in [outgoing("a")].iter().chain(&corrected[..3]) {
        store.rejects_other(id, [sends(other)]).await?;
    }
    let received = |(sent, status, error): (Outgoing, Delivery, Option<String>)| {
        let attempts = u32::from(status == Delivery::Handled);
        let cause = error.as_ref().map(|_| Cause::NotValid);
        let received = Received::of(id, sent, NOW, MessageState::default());
        Received { status, attempts, error, cause, ..received }
    };
    let expected: Vec<_> = expected.into_iter().map(received).collect();
    same!(store.inbox(id).await?, expected, "the inbox");
    let found = store.messages(Messages::One(id, "a".to_owned())).await?;
    same!(found, expected[4..], "the message of this id");
    same!(store.messages(Messages::SetAside).await?, [], "what is set aside");
    Ok(())
}

fn sends(message: &Outgoing) -> Event {
    Event::Send { message: message.clone().into(), now: NOW }
}

impl Subject {
    /// Another message to this machine has the correlation id `a`.
    async fn rejects_other<const N: usize>(&self, id: Id, sent: [Event; N]) -> Kept {
        let correlation = "a".to_owned();
        self.rejects(events(id, sent), Rejected::OtherMessage { id, correlation }).await
    }
}
