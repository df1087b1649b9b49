//! A claim is a compare-and-set, every write of a holder is gated by its token, and a batch with a
//! refused event writes nothing.

use super::{event::park, prelude::*};
use crate::store::inbox::protocol::{MAX_SELF_SENDS, MovedBy};

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut machine = Machine::job();
    store.accepts(machine.create()).await?;
    let id = machine.id();
    let early = claim("a", 0, NOW, Attempted::State);
    store.refuses(id, early, EventRefusal::NoWork).await?;
    store.drives(&["job"]).await?;

    claims(&store, id).await?;
    old_tokens(&store, &machine).await?;
    writes(&store, &mut machine).await?;
    revision(&store, &mut machine).await?;
    self_sends(&store, &mut machine).await?;
    takeover(&store, &mut machine).await?;
    store.accepts(machine.end()).await?;
    ensure!(store.work(id).await?.is_none(), "a machine that has ended has work");
    store.refuses(id, claim("a", 3, NOW, Attempted::State), EventRefusal::NoWork).await
}

/// Of those who have read the same token, one gets the lease.
async fn claims(store: &Subject, id: Id) -> Kept {
    let claimed = |token| EventOutcome::Claimed { token, revision: 0 };
    store.answers(id, claim("a", 0, NOW, Attempted::State), claimed(1)).await?;
    let taken = async |token: u64, now: Millis| {
        let event = claim("b", token, now, Attempted::Recheck);
        store.refuses(id, event, EventRefusal::Taken).await
    };
    for (token, now) in [(0, NOW), (0, NOW + 2000), (1, NOW), (1, NOW + 999), (2, NOW + 2000)] {
        taken(token, now).await?;
    }
    let until = NOW + 3000;
    store.apply_event(id, Event::Renew { token: 1, until }).await?;
    taken(1, NOW + 2000).await?;
    let work = store.has_work(id).await?;
    let lease = work.lease.as_ref().map(|lease| (&*lease.worker, lease.until));
    same!((lease, work.handler.attempts), (Some(("a", until)), 1), "the lease and the attempts");

    store.answers(id, claim("b", 1, until, Attempted::State), claimed(2)).await?;
    same!(store.has_work(id).await?.handler.attempts, 2, "the attempts after a takeover");
    Ok(())
}

/// Whatever belongs to a batch of the old holder, and wherever its event is, nothing is written.
async fn old_tokens(store: &Subject, machine: &Machine) -> Kept {
    let id = machine.id();
    for token in [0, 1, 3] {
        for event in [
            Event::Renew { token, until: NOW + 9000 },
            moved(token, None),
            park(token, 0, None),
            Event::HandBack { token, on: Attempted::State, now: NOW },
        ] {
            store.refuses(id, event, EventRefusal::Lost).await?;
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
        let drives = owned(&["execution"]);
        let all = WriteBatch { events, children, drives, ..batch(writes) };
        store.rejects(all, Rejected::Refused { id, refusal: EventRefusal::Lost }).await?;
    }
    Ok(())
}

/// The holder writes, if also the version is right.
async fn writes(store: &Subject, machine: &mut Machine) -> Kept {
    let id = machine.id();
    let with = |write: Write| WriteBatch { events: vec![(id, moved(2, None))], ..batch([write]) };
    store.rejects(with(machine.stale()), CommitError::Conflict { id }).await?;

    let batch = with(machine.update(2));
    let applied = store.accepts(batch.clone()).await?;
    same!(applied.outcomes, [EventOutcome::Done], "the answer to a transition");
    store.agrees(machine).await?;
    let wake = Some(Wake::ready(NOW));
    let expected = Schedule { token: 2, taken_over: true, wake, ..Schedule::default() };
    same!(store.has_work(id).await?, expected, "the work after a transition");
    // A retry of the batch is answered, although the lease is gone.
    let again = store.unchanged(store.accepts(batch)).await?;
    same!(again.last, applied.last, "the answer to the same batch");
    Ok(())
}

/// A write by others raises the revision; it does not end the lease.
async fn revision(store: &Subject, machine: &mut Machine) -> Kept {
    let (id, ready) = (machine.id(), Some(Wake::ready(NOW)));
    let (token, seen) = store.claims(id, Attempted::State).await?;
    store.accepts(machine.update(1)).await?;
    store.apply_event(id, send("a")).await?;
    let work = store.has_work(id).await?;
    same!(work.revision, seen + 2, "the revision after two changes");
    ensure!(work.lease.is_some(), "a change ended the lease");
    store.apply_event(id, park(token, seen, None)).await?;
    same!(store.has_work(id).await?.wake, ready, "its wake, with news");
    store.parks(id, None).await?;
    same!(store.has_work(id).await?.wake, None, "its wake, without news");
    store.accepts(machine.update(1)).await?;
    same!(store.has_work(id).await?.wake, ready, "its wake after a change");
    Ok(())
}

/// Rounds in which a handler only sends messages to its own machine are counted, until it is set
/// aside.
async fn self_sends(store: &Subject, machine: &mut Machine) -> Kept {
    let id = machine.id();
    let round = async |sends_itself: bool| {
        let (token, revision) = store.claims(id, Attempted::State).await?;
        let (now, on, wake) = (NOW, Attempted::State, Some(Wake::ready(NOW)));
        let wait = Wait { token, revision, now, on, sends_itself, wake, ..Wait::default() };
        store.apply_event(id, Event::Wait(wait)).await
    };
    for (sends_itself, count) in [(true, 1), (true, 2), (false, 0), (true, 1)] {
        round(sends_itself).await?;
        same!(store.has_work(id).await?.self_sends, count, "the rounds in a row");
    }
    let (token, _) = store.claims(id, Attempted::State).await?;
    let events = vec![(id, moved(token, None))];
    store.accepts(WriteBatch { events, ..batch([machine.update(1)]) }).await?;
    for number in 1..=MAX_SELF_SENDS {
        let is_last = number == MAX_SELF_SENDS;
        let expected = if is_last { EventOutcome::SetAside } else { EventOutcome::Done };
        same!(round(true).await?, expected, "the answer to round {number}");
    }
    let work = store.has_work(id).await?;
    ensure!(work.handler.set_aside && work.self_sends == 0, "it continues: {work:#?}");
    store.apply_event(id, requeue(&[])).await.map(drop)
}

fn moved_by(token: u64, by: MovedBy) -> Event {
    let mut event = moved(token, None);
    if let Event::Moved(it) = &mut event {
        it.by = by;
    }
    event
}

/// That the lease was taken over is kept until the handler makes a transition, whoever has it. If
/// that says no more than this, the attempt goes on.
async fn takeover(store: &Subject, machine: &mut Machine) -> Kept {
    let id = machine.id();
    let (token, _) = store.claims(id, Attempted::State).await?;
    let hand_back = Event::HandBack { token, on: Attempted::Recheck, now: NOW };
    store.apply_event(id, hand_back).await?;
    let (token, _) = store.claims(id, Attempted::State).await?;
    ensure!(store.has_work(id).await?.taken_over, "a lease that was given back hides a takeover");
    let tried = store.has_work(id).await?.handler.attempts;
    let event = moved_by(token, MovedBy::Takeover);
    store.accepts(WriteBatch { events: vec![(id, event)], ..batch([machine.update(1)]) }).await?;
    let (token, _) = store.claims(id, Attempted::State).await?;
    let work = store.has_work(id).await?;
    ensure!(!work.taken_over, "the handler has made a transition");
    same!((tried, work.handler.attempts), (2, 2), "the attempts before and after a takeover");
    let event = moved_by(token, MovedBy::Handler);
    store.accepts(WriteBatch { events: vec![(id, event)], ..batch([machine.update(1)]) }).await?;
    same!(store.has_work(id).await?.handler.attempts, 0, "the attempts in the next state");
    Ok(())
}
