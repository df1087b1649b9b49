//! Of the messages with one correlation id, one is taken: that of the first sender, or after it was set
//! aside, a corrected one.

use super::{
    Open, ensure,
    event::{NOW, moved, outgoing, send},
    inbox::events,
    sample::{Machine, batch, commit},
    subject::Subject,
};
use crate::{
    id::Id,
    store::{
        backend::{Batch, Messages, Rejected},
        inbox::{
            message::{Delivery, Outgoing, Received},
            protocol::{Cause, Event, On, Outcome, Park},
        },
    },
};

/// Of those that were set aside.
fn cause_of(status: Delivery) -> Option<Cause> {
    matches!(status, Delivery::SetAside | Delivery::Replaced).then_some(Cause::NotValid)
}

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    store.accepts(Batch { drives: vec!["job".to_owned()], ..commit(vec![], vec![]) }).await?;
    let mut machine = Machine::job();
    let created = machine.create();
    store.accepts(batch([(&machine, created)])).await?;
    store.happens(machine.id(), send("a")).await?;
    other_messages_are_refused(&store, machine.id(), "a").await?;
    are_replaced(&store, &mut machine).await
}

/// Other messages with this correlation id: of another event, or of another sender.
fn others(correlation: &str) -> [Outgoing; 4] {
    let sent = || outgoing(correlation);
    [
        Outgoing { body: "{}".to_owned(), ..sent() },
        Outgoing { body: "no JSON".to_owned(), ..sent() },
        Outgoing { actor: "graph_runner".to_owned(), ..sent() },
        Outgoing { name: None, ..sent() },
    ]
}

/// They are errors, and keep the rest of their batch from being written.
async fn other_messages_are_refused(
    store: &Subject,
    id: Id,
    correlation: &str,
) -> Result<(), String> {
    for other in others(correlation) {
        let again = Event::Send { message: other.into(), now: NOW + 5 };
        let rejected = Rejected::OtherMessage { id, correlation: correlation.to_owned() };
        store.rejects(self::events(id, [send("of the same batch"), again]), rejected).await?;
    }
    Ok(())
}

/// A message that was set aside does not keep a corrected one away, and is never taken after it.
async fn are_replaced(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let (id, corrected) = (machine.id(), others("a"));
    let sends = |message: &Outgoing| Event::Send { message: message.clone().into(), now: NOW };
    let mut expected = Vec::new();
    let mut aside = outgoing("a");
    for (round, other) in (1..).zip(&corrected) {
        let (token, news) = store.claims(id, On::Look).await?;
        let why = format!("no {round}");
        let refused = vec![("a".to_owned(), why.clone())];
        let (kept, on) = (Vec::new(), On::Look);
        let (sends_itself, wake_at, due_at) = (false, None, None);
        let now = NOW;
        let park = Event::Park(Park {
            token,
            news,
            now,
            on,
            sends_itself,
            wake_at,
            due_at,
            refused,
            kept,
        });
        store.happens(id, park).await?;
        // A repeat of the message that was set aside is a duplicate.
        let outcome = store.happens(id, sends(&aside)).await?;
        ensure!(outcome == Outcome::Duplicate, "a duplicate is answered with {outcome:?}");
        let outcome = store.happens(id, sends(other)).await?;
        ensure!(outcome == Outcome::Done, "a corrected message is answered with {outcome:?}");
        expected.push((aside, Delivery::Replaced, Some(why)));
        aside = other.clone();
        // The first one has lost its id.
        let rejected = Rejected::OtherMessage { id, correlation: "a".to_owned() };
        store.rejects(self::events(id, [send("a")]), rejected).await?;
        ensure!(store.queued(id).await? == ["a"], "the corrected message is not queued");
    }
    let (token, _) = store.claims(id, On::Message("a".to_owned())).await?;
    let write = machine.update(1);
    let events = vec![(id, moved(token, Some("a")))];
    store.accepts(Batch { events, ..batch([(&*machine, write)]) }).await?;
    expected.push((aside, Delivery::Handled, None));
    // Nothing of it can be taken again.
    let requeue = Event::Requeue { now: NOW, messages: vec!["a".to_owned()] };
    store.happens(id, requeue).await?;
    ensure!(store.queued(id).await?.is_empty(), "a message that was handled is queued again");
    for other in [outgoing("a")].iter().chain(&corrected[..3]) {
        let rejected = Rejected::OtherMessage { id, correlation: "a".to_owned() };
        store.rejects(self::events(id, [sends(other)]), rejected).await?;
    }
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(sent, status, error)| {
            let attempts = u32::from(status == Delivery::Handled);
            let Outgoing { correlation, actor, name, body, seen } = sent;
            Received {
                to: id,
                correlation,
                actor,
                name,
                body,
                seen,
                sent_at: NOW,
                status,
                attempts,
                cause: cause_of(status),
                error,
            }
        })
        .collect();
    let found = store.inbox(id).await?;
    ensure!(found == expected, "the inbox is {found:#?}\nand not {expected:#?}");
    let found = store.messages(Messages::One(id, "a".to_owned())).await?;
    ensure!(found == expected[4..], "the message of this id is {found:#?}");
    let found = store.messages(Messages::SetAside).await?;
    ensure!(found.is_empty(), "set aside are {found:#?}");
    Ok(())
}
