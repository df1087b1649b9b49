//! Messages are kept as they were sent, once each and in order, with their outcome.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut machine = Machine::job();
    store.accepts(machine.create()).await?;
    arrive(&store, machine.id()).await?;
    are_tried(&store, &mut machine).await?;
    end(&store, &mut machine).await?;
    with_the_machine(&store).await?;
    for is_driven in [true, false] {
        end_without_a_worker(&Subject::open(open), is_driven).await?;
    }
    Ok(())
}

/// The beginning of the error of a message that its machine left behind.
const ENDED: &str = "the machine has ended";

/// Texts that a file or a query could spoil.
const NAMES: [&str; 4] = ["b", "a", "it's \u{1f980} %_", "A"];

async fn arrive(store: &Subject, id: Id) -> Kept {
    for name in NAMES {
        store.answers(id, send(name), EventOutcome::Done).await?;
    }
    // The order of the fields of an event says nothing.
    let body = r#"{"of":"a","trigger":"resume"}"#.to_owned();
    for message in [outgoing("a"), Outgoing { body, ..outgoing("a") }] {
        let again = Event::Send { message: message.into(), now: NOW + 5 };
        store.answers(id, again, EventOutcome::Duplicate).await?;
    }
    // One that waits keeps its own condition.
    let other = Event::Send { message: Outgoing { seen: None, ..outgoing("a") }.into(), now: NOW };
    let refused = Rejected::OtherMessage { id, correlation: "a".to_owned() };
    store.rejects(events(id, [other]), refused).await?;
    let expected = NAMES.map(|name| received(id, name));
    same!(store.inbox(id).await?, expected, "the inbox");
    let one = store.messages(Messages::One(id, "a".to_owned())).await?;
    same!(one, expected[1..2], "one message");
    for event in [send("x"), Event::Notify { moved: false, now: NOW }] {
        let unknown = Id::fresh();
        store.rejects(events(unknown, [event]), CommitError::NotFound { id: unknown }).await?;
    }
    Ok(())
}

async fn are_tried(store: &Subject, machine: &mut Machine) -> Kept {
    let id = machine.id();
    store.drives(&["job"]).await?;
    let on = || Attempted::Message("b".to_owned());
    let (token, _) = store.claims(id, on()).await?;
    store.is(id, "b", (Delivery::Queued, 1, None)).await?;
    store.apply_event(id, fail(token, on(), "no\0 \u{1f980}")).await?;
    store.is(id, "b", (Delivery::Queued, 1, Some("no\0 \u{1f980}"))).await?;

    let (token, _) = store.claims(id, on()).await?;
    let event = moved_refusing(token, "b", "A");
    let events = vec![(id, event)];
    store.accepts(WriteBatch { events, ..batch([machine.update(1)]) }).await?;
    store.is(id, "b", (Delivery::Handled, 2, None)).await?;
    store.is(id, "A", (Delivery::SetAside, 0, Some("never"))).await?;
    let queued = store.queued(id).await?;
    ensure!(queued == NAMES[1..3], "{queued:?} are queued");

    // A handled or unknown message is not tried, and a requeue of it is refused as a whole.
    let token = store.has_work(id).await?.token;
    for name in ["b", "A", "unknown"] {
        let event = claim("worker", token, NOW, Attempted::Message(name.to_owned()));
        store.refuses(id, event, EventRefusal::NotQueued).await?;
    }
    store.refuses(id, requeue(&["A", "unknown"]), EventRefusal::NotQueued).await?;
    store.apply_event(id, requeue(&["A", "b"])).await?;
    store.is(id, "A", (Delivery::Queued, 0, None)).await?;
    store.is(id, "b", (Delivery::Handled, 2, None)).await
}

async fn end(store: &Subject, machine: &mut Machine) -> Kept {
    let id = machine.id();
    store.accepts(machine.end()).await?;
    store.answers(id, send("late"), EventOutcome::Ended).await?;
    store.is(id, "b", (Delivery::Handled, 2, None)).await?;
    let aside = store.messages(Messages::SetAside).await?;
    let names: Vec<_> = aside.iter().map(|message| &*message.correlation).collect();
    ensure!(names == ["a", NAMES[2], "A", "late"], "{names:?} are set aside at the end");
    same!(store.messages(Messages::SetAsideOf(id)).await?, aside, "what is set aside of it");
    same!(store.messages(Messages::SetAsideOf(Id::fresh())).await?, [], "of another one");
    let told = |it: &Received| it.error.as_deref().is_some_and(|error| error.starts_with(ENDED));
    ensure!(aside.iter().all(told), "messages do not say why they are set aside: {aside:#?}");
    let queued = store.queued(id).await?;
    ensure!(queued.is_empty(), "{queued:?} are queued at the end");
    Ok(())
}

/// A message may come with the machine, twice in one batch, and leaves with the batch.
async fn with_the_machine(store: &Subject) -> Kept {
    let mut machine = Machine::job();
    let id = machine.id();
    let events = vec![(id, send("a")), (id, send("a"))];
    let created = WriteBatch { events, ..batch([machine.create()]) };
    let outcomes = store.accepts(created).await?.outcomes;
    same!(outcomes, [EventOutcome::Done, EventOutcome::Duplicate], "the answers to a pair");
    same!(store.inbox(id).await?, [received(id, "a")], "a pair in one batch");

    let events = vec![(id, send("b"))];
    let stale = WriteBatch { events, ..batch([machine.stale()]) };
    store.rejects(stale, CommitError::Conflict { id }).await
}

/// The queue ends with the machine, whether or not anybody ever drove it.
async fn end_without_a_worker(store: &Subject, is_driven: bool) -> Kept {
    let mut machine = Machine::job();
    store.accepts(machine.create()).await?;
    store.apply_event(machine.id(), send("a")).await?;
    if is_driven {
        store.drives(&["job"]).await?;
    }
    store.accepts(machine.end()).await?;
    store.is(machine.id(), "a", (Delivery::SetAside, 0, Some(ENDED))).await
}

/// A transition that takes a message, and sets another one aside.
pub(super) fn moved_refusing(token: u64, handled: &str, other: &str) -> Event {
    let mut event = moved(token, Some(handled));
    if let Event::Moved(Moved { refused, .. }) = &mut event {
        refused.push((other.to_owned(), "never".to_owned()));
    }
    event
}

fn received(to: Id, correlation: &str) -> Received {
    Received::of(to, outgoing(correlation), NOW, MessageState::default())
}

impl Subject {
    pub(super) async fn messages(&self, which: Messages) -> Kept<Vec<Received>> {
        sound(self.0.messages(which).await?)
    }

    pub(super) async fn queued(&self, id: Id) -> Kept<Vec<String>> {
        let (_, _, queued) = self.0.task(id).await?;
        Ok(queued.into_iter().map(|it| it.correlation).collect())
    }

    /// The outcome of a message.
    async fn is(
        &self,
        id: Id,
        correlation: &str,
        (status, attempts, error): (Delivery, u32, Option<&str>),
    ) -> Kept {
        let found = self.messages(Messages::One(id, correlation.to_owned())).await?;
        let error = error.map(str::to_owned);
        let cause = found.first().and_then(|it| it.cause);
        ensure!(cause.is_some() == error.is_some(), "{found:#?} has no cause");
        let expected = Received { status, attempts, error, cause, ..received(id, correlation) };
        same!(found, [expected], "the message");
        Ok(())
    }
}
