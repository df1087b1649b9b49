//! The queued messages of a machine are counted, and from a number on, only the library itself may
//! send more.

use super::{inbox::moved_refusing, prelude::*};
use crate::store::inbox::protocol::Switch;

/// The limit here.
const LIMIT: u32 = 3;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut machine = Machine::job();
    let id = machine.id();
    // Before workers drive it, and with the machine.
    let with = vec![(id, send("a"))];
    store.accepts(WriteBatch { events: with, ..batch([machine.create()]) }).await?;
    store.drives(&["job"]).await?;
    has(&store, id, 1).await?;
    let mut later = Machine::job();
    let with = vec![(later.id(), send("a")), (later.id(), send("b"))];
    store.accepts(WriteBatch { events: with, ..batch([later.create()]) }).await?;
    has(&store, later.id(), 2).await?;
    is_full(&store, id).await?;
    is_counted(&store, &mut machine).await
}

async fn is_full(store: &Subject, id: Id) -> Kept {
    let full = Rejected::InboxFull { id, queued: LIMIT };
    // Those of one batch count.
    let all = [send("b"), send("c"), send("d")];
    store.rejects(limited(id, all), full.clone()).await?;
    store.accepts(limited(id, [send("b"), send("c")])).await?;
    store.rejects(limited(id, [send("d")]), full).await?;
    // It has this one.
    store.accepts(limited(id, [send("a")])).await?;
    has(store, id, LIMIT).await?;
    store.accepts(limited(id, [send("machine:outcome:1")])).await?;
    has(store, id, LIMIT + 1).await
}

/// Whatever settles a message, and whatever queues it again.
async fn is_counted(store: &Subject, machine: &mut Machine) -> Kept {
    let id = machine.id();
    let (token, _) = store.claims(id, Attempted::Message("a".to_owned())).await?;
    let with = vec![(id, moved_refusing(token, "a", "b"))];
    store.accepts(WriteBatch { events: with, ..batch([machine.update(1)]) }).await?;
    has(store, id, 2).await?;
    store.accepts(limited(id, [send("e")])).await?;

    let (token, revision) = store.claims(id, Attempted::Recheck).await?;
    let messages = owned(&["e"]);
    store.apply_event(id, Event::Acknowledge { token, messages }).await?;
    has(store, id, 2).await?;
    let refused = vec![("c".to_owned(), "never".to_owned())];
    let switch = Switch { token, revision, refused, max_attempts: 9, ..Switch::default() };
    store.apply_event(id, Event::Switch(switch)).await?;
    has(store, id, 1).await?;
    store.apply_event(id, requeue(&["b", "c"])).await?;
    has(store, id, 3).await?;
    store.apply_event(id, Event::HandBack { token, on: Attempted::Recheck, now: NOW }).await?;

    let on = || Attempted::Message("c".to_owned());
    for queued in [3, 2] {
        let (token, _) = store.claims(id, on()).await?;
        store.apply_event(id, fail(token, on(), "no")).await?;
        has(store, id, queued).await?;
    }
    // A better one takes the place of what was set aside.
    let better = Outgoing { body: "{}".to_owned(), ..outgoing("c") };
    store.apply_event(id, Event::Send { message: better.into(), now: NOW }).await?;
    has(store, id, 3).await?;
    store.accepts(machine.end()).await?;
    ensure!(store.work(id).await?.is_none(), "one that has ended has work");
    let wrong = store.0.schedules(Schedules::Miscounted).await?;
    ensure!(wrong.is_empty(), "{wrong:?} are counted wrong");
    Ok(())
}

fn limited<const N: usize>(id: Id, sent: [Event; N]) -> WriteBatch {
    let mut batch = events(id, sent);
    batch.inbox_limit = Some(LIMIT);
    batch
}

/// The machine has as many queued messages, and its schedule says so.
async fn has(store: &Subject, id: Id, expected: u32) -> Kept {
    let queued = store.queued(id).await?;
    let counted = store.has_work(id).await?.queued;
    same!((queued.len(), counted), (expected as usize, expected), "the number of {queued:?}");
    for which in [Schedules::Miscounted, Schedules::Crowded(9)] {
        let wrong = store.0.schedules(which).await?;
        ensure!(wrong.is_empty(), "{which:?} are {wrong:?}");
    }
    Ok(())
}
