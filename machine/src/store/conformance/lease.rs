//! A claim is a compare-and-set, every write of a holder is gated by its token, and a batch with a
//! refused event writes nothing.

use super::{event::park, prelude::*};
use crate::store::inbox::protocol::MAX_SELF_SENDS;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut machine = Machine::job();
    store.accepts(machine.create()).await?;
    let id = machine.id();
    let early = alone(id, claim("a", 0, NOW, Attempted::State));
    store.rejects(early, refused(id, EventRefusal::NoWork)).await?;
    store.drives(&["job"]).await?;

    claims(&store, id).await?;
    old_tokens(&store, &machine).await?;
    writes(&store, &mut machine).await?;
    revision(&store, &mut machine).await?;
    self_sends(&store, &mut machine).await?;
    store.accepts(machine.end()).await?;
    ensure!(store.work(id).await?.is_none(), "a machine that has ended has work");
    let late = alone(id, claim("a", 3, NOW, Attempted::State));
    store.rejects(late, refused(id, EventRefusal::NoWork)).await
}

/// Of those who have read the same token, one gets the lease.
async fn claims(store: &Subject, id: Id) -> Result<(), String> {
    let first = store.apply_event(id, claim("a", 0, NOW, Attempted::State)).await?;
    ensure!(first == EventOutcome::Claimed { token: 1, revision: 0 }, "the first claim: {first:?}");
    for (token, now) in [(0, NOW), (0, NOW + 2000), (1, NOW), (1, NOW + 999), (2, NOW + 2000)] {
        let taken = alone(id, claim("b", token, now, Attempted::Recheck));
        store.rejects(taken, refused(id, EventRefusal::Taken)).await?;
    }
    let until = NOW + 3000;
    store.apply_event(id, Event::Renew { token: 1, until }).await?;
    let renewed = alone(id, claim("b", 1, NOW + 2000, Attempted::Recheck));
    store.rejects(renewed, refused(id, EventRefusal::Taken)).await?;
    let work = store.has_work(id).await?;
    let lease = work.lease.as_ref().map(|lease| (&*lease.worker, lease.until));
    ensure!(lease == Some(("a", until)), "the lease is {lease:?}");
    ensure!(work.handler.attempts == 1, "the attempts are {}", work.handler.attempts);

    let second = store.apply_event(id, claim("b", 1, until, Attempted::State)).await?;
    ensure!(second == EventOutcome::Claimed { token: 2, revision: 0 }, "a takeover: {second:?}");
    let work = store.has_work(id).await?;
    ensure!(work.handler.attempts == 2, "after a takeover: {} attempts", work.handler.attempts);
    Ok(())
}

/// Whatever belongs to a batch of the old holder, and wherever its event is, nothing is written.
async fn old_tokens(store: &Subject, machine: &Machine) -> Result<(), String> {
    let id = machine.id();
    let lost = refused(id, EventRefusal::Lost);
    for token in [0, 1, 3] {
        for event in [
            Event::Renew { token, until: NOW + 9000 },
            moved(token, None),
            park(token, 0, None),
            Event::HandBack { token, on: Attempted::State, now: NOW },
        ] {
            store.rejects(alone(id, event), lost.clone()).await?;
        }
    }
    for bad_first in [true, false] {
        let (mut job, mut child) = (machine.clone(), Machine::execution());
        let writes = [job.update(2), child.create()];
        let mut events = vec![(id, moved(1, None)), (id, send("x")), (child.id(), send("y"))];
        if !bad_first {
            events.reverse();
        }
        let children = vec![child.child_of(id)];
        let drives = vec!["execution".to_owned()];
        let all = WriteBatch { events, children, drives, ..batch(writes) };
        store.rejects(all, lost.clone()).await?;
    }
    Ok(())
}

/// The holder writes, if also the version is right.
async fn writes(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let id = machine.id();
    let stale = WriteBatch { events: vec![(id, moved(2, None))], ..batch([machine.stale()]) };
    store.rejects(stale, Rejected::Conflict(id)).await?;

    let batch = WriteBatch { events: vec![(id, moved(2, None))], ..batch([machine.update(2)]) };
    let applied = store.accepts(batch.clone()).await?;
    ensure!(applied.outcomes == [EventOutcome::Done], "a transition: {:?}", applied.outcomes);
    store.agrees(machine).await?;
    let work = store.has_work(id).await?;
    let expected = Schedule { token: 2, wake: Some(Wake::ready(NOW)), ..Schedule::default() };
    ensure!(work == expected, "after a transition: {work:#?}");
    // A retry of the batch is answered, although the lease is gone.
    let before = store.snapshot().await?;
    let again = store.accepts(batch).await?;
    ensure!(again.last == applied.last, "the same batch is answered with {again:?}");
    ensure!(before == store.snapshot().await?, "the same batch is written twice");
    Ok(())
}

/// A write by others raises the revision; it does not end the lease.
async fn revision(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let id = machine.id();
    let (token, seen) = store.claims(id, Attempted::State).await?;
    store.accepts(machine.update(1)).await?;
    store.apply_event(id, send("a")).await?;
    let work = store.has_work(id).await?;
    ensure!(work.revision == seen + 2, "two changes after revision {seen} make {}", work.revision);
    ensure!(work.lease.is_some(), "a change ended the lease");
    store.apply_event(id, park(token, seen, None)).await?;
    let work = store.has_work(id).await?;
    ensure!(work.wake == Some(Wake::ready(NOW)), "it sleeps over a newer revision: {work:#?}");
    store.parks(id, None).await?;
    let work = store.has_work(id).await?;
    ensure!(work.wake.is_none(), "it does not sleep: {work:#?}");
    store.accepts(machine.update(1)).await?;
    let work = store.has_work(id).await?;
    ensure!(work.wake == Some(Wake::ready(NOW)), "a change does not wake it: {work:#?}");
    Ok(())
}

/// Rounds in which a handler only sends messages to its own machine are counted, until it is set
/// aside.
async fn self_sends(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let id = machine.id();
    let round = async |sends_itself: bool| {
        let (token, revision) = store.claims(id, Attempted::State).await?;
        let mut event = park(token, revision, Some(Wake::ready(NOW)));
        if let Event::Wait(Wait { sends_itself: sends, .. }) = &mut event {
            *sends = sends_itself;
        }
        store.apply_event(id, event).await
    };
    for (sends_itself, count) in [(true, 1), (true, 2), (false, 0), (true, 1)] {
        round(sends_itself).await?;
        let found = store.has_work(id).await?.self_sends;
        ensure!(found == count, "{found} rounds in a row, not {count}");
    }
    let (token, _) = store.claims(id, Attempted::State).await?;
    let events = vec![(id, moved(token, None))];
    store.accepts(WriteBatch { events, ..batch([machine.update(1)]) }).await?;
    for number in 1..=MAX_SELF_SENDS {
        let is_last = number == MAX_SELF_SENDS;
        let expected = if is_last { EventOutcome::SetAside } else { EventOutcome::Done };
        let outcome = round(true).await?;
        ensure!(outcome == expected, "round {number} is answered with {outcome:?}");
    }
    let work = store.has_work(id).await?;
    ensure!(work.handler.set_aside && work.self_sends == 0, "it continues: {work:#?}");
    store.apply_event(id, Event::Requeue { now: NOW, messages: Vec::new() }).await.map(drop)
}

fn refused(id: Id, refusal: EventRefusal) -> Rejected {
    Rejected::Refused { id, refusal }
}

fn alone(id: Id, event: Event) -> WriteBatch {
    WriteBatch { events: vec![(id, event)], ..batch([]) }
}
