//! Of the messages with one correlation id, one is taken: that of the first sender, or after it was
//! set aside, a corrected one.

use super::{inbox::events, prelude::*};

/// Of those that were set aside.
fn cause_of(status: Delivery) -> Option<Cause> {
    matches!(status, Delivery::SetAside | Delivery::Replaced).then_some(Cause::NotValid)
}

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    store.drives(&["job"]).await?;
    let mut machine = Machine::job();
    store.accepts(machine.create()).await?;
    store.apply_event(machine.id(), send("a")).await?;
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
        let (token, revision) = store.claims(id, Attempted::Recheck).await?;
        let why = format!("no {round}");
        let refused = vec![("a".to_owned(), why.clone())];
        let park = Event::Wait(Wait { token, revision, now: NOW, refused, ..Wait::default() });
        store.apply_event(id, park).await?;
        // A repeat of the message that was set aside is a duplicate.
        let outcome = store.apply_event(id, sends(&aside)).await?;
        ensure!(outcome == EventOutcome::Duplicate, "a duplicate is answered with {outcome:?}");
        let outcome = store.apply_event(id, sends(other)).await?;
        ensure!(outcome == EventOutcome::Done, "a corrected message is answered with {outcome:?}");
        expected.push((aside, Delivery::Replaced, Some(why)));
        aside = other.clone();
        // The first one has lost its id.
        let rejected = Rejected::OtherMessage { id, correlation: "a".to_owned() };
        store.rejects(self::events(id, [send("a")]), rejected).await?;
        ensure!(store.queued(id).await? == ["a"], "the corrected message is not queued");
    }
    let (token, _) = store.claims(id, Attempted::Message("a".to_owned())).await?;
    let events = vec![(id, moved(token, Some("a")))];
    store.accepts(WriteBatch { events, ..batch([machine.update(1)]) }).await?;
    expected.push((aside, Delivery::Handled, None));
    // Nothing of it can be taken again.
    let requeue = Event::Requeue { now: NOW, messages: vec!["a".to_owned()] };
    store.apply_event(id, requeue).await?;
    ensure!(store.queued(id).await?.is_empty(), "a message that was handled is queued again");
    for other in [outgoing("a")].iter().chain(&corrected[..3]) {
        let rejected = Rejected::OtherMessage { id, correlation: "a".to_owned() };
        store.rejects(self::events(id, [sends(other)]), rejected).await?;
    }
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(sent, status, error)| {
            let attempts = u32::from(status == Delivery::Handled);
            let cause = cause_of(status);
            let received = Received::of(id, sent, NOW, MessageState::default());
            Received { status, attempts, error, cause, ..received }
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
