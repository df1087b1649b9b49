//! Messages are kept as they were sent, once each and in order, with their outcome.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
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

async fn arrive(store: &Subject, id: Id) -> Result<(), String> {
    for name in NAMES {
        let outcome = store.apply_event(id, send(name)).await?;
        ensure!(outcome == EventOutcome::Done, "a new message is answered with {outcome:?}");
    }
    // The order of the fields of an event says nothing.
    let body = r#"{"of":"a","trigger":"resume"}"#.to_owned();
    let same = Outgoing { body, ..outgoing("a") };
    for message in [outgoing("a"), same] {
        let again = Event::Send { message: message.into(), now: NOW + 5 };
        let outcome = store.apply_event(id, again).await?;
        ensure!(outcome == EventOutcome::Duplicate, "a duplicate is answered with {outcome:?}");
    }
    // One that waits keeps its own condition.
    let other = Event::Send { message: Outgoing { seen: None, ..outgoing("a") }.into(), now: NOW };
    let refused = Rejected::OtherMessage { id, correlation: "a".to_owned() };
    store.rejects(events(id, [other]), refused).await?;
    let expected = NAMES.map(|name| received(id, name));
    let found = store.inbox(id).await?;
    ensure!(found == expected, "the inbox is {found:#?}\nand not {expected:#?}");
    let one = Messages::One(id, "a".to_owned());
    let found = store.messages(one).await?;
    ensure!(found == expected[1..2], "one message is {found:#?}");
    for event in [send("x"), Event::Notify { moved: false, now: NOW }] {
        let unknown = Id::fresh();
        store.rejects(events(unknown, [event]), Rejected::NotFound(unknown)).await?;
    }
    Ok(())
}

async fn are_tried(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let id = machine.id();
    store.drives(&["job"]).await?;
    let on = || Attempted::Message("b".to_owned());
    let (token, _) = store.claims(id, on()).await?;
    store.is(id, "b", (Delivery::Queued, 1, None)).await?;
    store.apply_event(id, fail(token, on(), "no\0 \u{1f980}")).await?;
    store.is(id, "b", (Delivery::Queued, 1, Some("no\0 \u{1f980}"))).await?;

    let (token, _) = store.claims(id, on()).await?;
    let mut event = moved(token, Some("b"));
    if let Event::Moved(Moved { refused, .. }) = &mut event {
        refused.push(("A".to_owned(), "never".to_owned()));
    }
    let events = vec![(id, event)];
    store.accepts(WriteBatch { events, ..batch([machine.update(1)]) }).await?;
    store.is(id, "b", (Delivery::Handled, 2, None)).await?;
    store.is(id, "A", (Delivery::SetAside, 0, Some("never"))).await?;
    let queued: Vec<_> = store.queued(id).await?;
    ensure!(queued == NAMES[1..3], "{queued:?} are queued");

    // A handled or unknown message is not tried, and a requeue of it is refused as a whole.
    let token = store.work(id).await?.map_or(0, |work| work.token);
    for name in ["b", "A", "unknown"] {
        let event = claim("worker", token, NOW, Attempted::Message(name.to_owned()));
        let reason = Rejected::Refused { id, refusal: EventRefusal::NotQueued };
        store.rejects(self::events(id, [event]), reason).await?;
    }
    let requeue = |names: &[&str]| Event::Requeue {
        now: NOW,
        messages: names.iter().map(|&name| name.to_owned()).collect(),
    };
    let unknown = self::events(id, [requeue(&["A", "unknown"])]);
    store.rejects(unknown, Rejected::Refused { id, refusal: EventRefusal::NotQueued }).await?;
    store.apply_event(id, requeue(&["A", "b"])).await?;
    store.is(id, "A", (Delivery::Queued, 0, None)).await?;
    store.is(id, "b", (Delivery::Handled, 2, None)).await
}

async fn end(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let id = machine.id();
    store.accepts(machine.end()).await?;
    let outcome = store.apply_event(id, send("late")).await?;
    ensure!(outcome == EventOutcome::Ended, "a late message is answered with {outcome:?}");
    store.is(id, "b", (Delivery::Handled, 2, None)).await?;
    let aside = store.messages(Messages::SetAside).await?;
    let names: Vec<_> = aside.iter().map(|message| &*message.correlation).collect();
    ensure!(names == ["a", NAMES[2], "A", "late"], "{names:?} are set aside at the end");
    let of_machine = store.messages(Messages::SetAsideOf(id)).await?;
    let elsewhere = store.messages(Messages::SetAsideOf(Id::fresh())).await?;
    ensure!(of_machine == aside && elsewhere.is_empty(), "{of_machine:#?}, {elsewhere:#?}");
    let told = |it: &Received| it.error.as_deref().is_some_and(|error| error.starts_with(ENDED));
    ensure!(aside.iter().all(told), "messages do not say why they are set aside: {aside:#?}");
    let queued = store.queued(id).await?;
    ensure!(queued.is_empty(), "{queued:?} are queued at the end");
    Ok(())
}

/// A message may come with the machine, twice in one batch, and leaves with the batch.
async fn with_the_machine(store: &Subject) -> Result<(), String> {
    let mut machine = Machine::job();
    let id = machine.id();
    let events = vec![(id, send("a")), (id, send("a"))];
    let created = WriteBatch { events, ..batch([machine.create()]) };
    let outcomes = store.accepts(created).await?.outcomes;
    ensure!(
        outcomes == [EventOutcome::Done, EventOutcome::Duplicate],
        "a pair is answered {outcomes:?}"
    );
    let (found, expected) = (store.inbox(id).await?, [received(id, "a")]);
    ensure!(found == expected, "a pair in one batch is {found:#?}");

    let events = vec![(id, send("b"))];
    let stale = WriteBatch { events, ..batch([machine.stale()]) };
    store.rejects(stale, Rejected::Conflict(id)).await
}

/// The queue ends with the machine, whether or not anybody ever drove it.
async fn end_without_a_worker(store: &Subject, is_driven: bool) -> Result<(), String> {
    let mut machine = Machine::job();
    store.accepts(machine.create()).await?;
    store.apply_event(machine.id(), send("a")).await?;
    if is_driven {
        store.drives(&["job"]).await?;
    }
    store.accepts(machine.end()).await?;
    store.is(machine.id(), "a", (Delivery::SetAside, 0, Some(ENDED))).await
}

pub(super) fn events<const N: usize>(id: Id, events: [Event; N]) -> WriteBatch {
    WriteBatch { events: events.map(|event| (id, event)).into(), ..batch([]) }
}

fn received(to: Id, correlation: &str) -> Received {
    Received::of(to, outgoing(correlation), NOW, MessageState::default())
}

impl Subject {
    pub(super) async fn messages(&self, which: Messages) -> Result<Vec<Received>, String> {
        let found = self.0.messages(which).await?;
        let sound: Result<Vec<_>, _> = found.into_iter().collect();
        sound.map_err(|broken| format!("a message is {broken:?}"))
    }

    pub(super) async fn queued(&self, id: Id) -> Result<Vec<String>, String> {
        let (_, _, queued) = self.0.task(id).await?;
        Ok(queued.into_iter().map(|it| it.correlation).collect())
    }

    /// The outcome of a message.
    async fn is(
        &self,
        id: Id,
        correlation: &str,
        (status, attempts, error): (Delivery, u32, Option<&str>),
    ) -> Result<(), String> {
        let inbox = self.inbox(id).await?;
        let found = inbox.into_iter().find(|it| it.correlation == correlation);
        let error = error.map(str::to_owned);
        let cause = found.as_ref().and_then(|it| it.cause);
        ensure!(cause.is_some() == error.is_some(), "{found:#?} has no cause");
        let expected = Received { status, attempts, error, cause, ..received(id, correlation) };
        ensure!(found.as_ref() == Some(&expected), "{found:#?}\nis not {expected:#?}");
        Ok(())
    }
}
