//! A claim is a compare-and-set, every write of a holder is gated by its token, and a batch with a
//! refused event writes nothing.

use super::{
    Open, ensure,
    event::{NOW, claim, moved, park, send},
    sample::{Machine, batch, commit},
    subject::Subject,
};
use crate::{
    id::Id,
    store::{
        backend::{Batch, Rejected},
        inbox::protocol::{Event, MOST_SELF_SENDS, On, Outcome, Park, Refusal, Work},
    },
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut machine = Machine::job();
    let created = machine.create();
    store.accepts(batch([(&machine, created)])).await?;
    let id = machine.id();
    let early = alone(id, claim("a", 0, NOW, On::State));
    store.rejects(early, refused(id, Refusal::NoWork)).await?;
    store.accepts(Batch { drives: vec!["job".to_owned()], ..commit(vec![], vec![]) }).await?;

    claims(&store, id).await?;
    old_tokens(&store, &machine).await?;
    writes(&store, &mut machine).await?;
    news(&store, &mut machine).await?;
    self_sends(&store, &mut machine).await?;
    let write = machine.end();
    store.accepts(batch([(&machine, write)])).await?;
    ensure!(store.work(id).await?.is_none(), "a machine that has ended has work");
    let late = alone(id, claim("a", 3, NOW, On::State));
    store.rejects(late, refused(id, Refusal::NoWork)).await
}

/// Of those who have read the same token, one gets the lease.
async fn claims(store: &Subject, id: Id) -> Result<(), String> {
    let first = store.happens(id, claim("a", 0, NOW, On::State)).await?;
    ensure!(first == Outcome::Claimed { token: 1, news: 0 }, "the first claim: {first:?}");
    for (token, now) in [(0, NOW), (0, NOW + 2000), (1, NOW), (1, NOW + 999), (2, NOW + 2000)] {
        let taken = alone(id, claim("b", token, now, On::Look));
        store.rejects(taken, refused(id, Refusal::Taken)).await?;
    }
    let until = NOW + 3000;
    store.happens(id, Event::Renew { token: 1, until }).await?;
    let renewed = alone(id, claim("b", 1, NOW + 2000, On::Look));
    store.rejects(renewed, refused(id, Refusal::Taken)).await?;
    let work = store.has_work(id).await?;
    let lease = work.lease.as_ref().map(|lease| (&*lease.worker, lease.until));
    ensure!(lease == Some(("a", until)), "the lease is {lease:?}");
    ensure!(work.handler.attempts == 1, "the attempts are {}", work.handler.attempts);

    let second = store.happens(id, claim("b", 1, until, On::State)).await?;
    ensure!(second == Outcome::Claimed { token: 2, news: 0 }, "a takeover: {second:?}");
    let work = store.has_work(id).await?;
    ensure!(work.handler.attempts == 2, "after a takeover: {} attempts", work.handler.attempts);
    Ok(())
}

/// Whatever belongs to a batch of the old holder, and wherever its event is, nothing is written.
async fn old_tokens(store: &Subject, machine: &Machine) -> Result<(), String> {
    let id = machine.id();
    let lost = refused(id, Refusal::Lost);
    for token in [0, 1, 3] {
        for event in [
            Event::Renew { token, until: NOW + 9000 },
            moved(token, None),
            park(token, 0, None),
            Event::HandBack { token, on: On::State, now: NOW },
        ] {
            store.rejects(alone(id, event), lost.clone()).await?;
        }
    }
    for bad_first in [true, false] {
        let (mut job, mut child) = (machine.clone(), Machine::execution());
        let writes = [(machine, job.update(2)), (&child.clone(), child.create())];
        let mut events = vec![(id, moved(1, None)), (id, send("x")), (child.id(), send("y"))];
        if !bad_first {
            events.reverse();
        }
        let children = vec![(child.id(), id)];
        let drives = vec!["execution".to_owned()];
        let all = Batch { events, children, drives, ..batch(writes) };
        store.rejects(all, lost.clone()).await?;
    }
    Ok(())
}

/// The holder writes, if also the version is right.
async fn writes(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let id = machine.id();
    let mut stale = machine.clone();
    stale.row.version += 5;
    let write = stale.update(1);
    let stale = Batch { events: vec![(id, moved(2, None))], ..batch([(&*machine, write)]) };
    store.rejects(stale, Rejected::Conflict(id)).await?;

    let write = machine.update(2);
    let batch = Batch { events: vec![(id, moved(2, None))], ..batch([(&*machine, write)]) };
    let applied = store.accepts(batch.clone()).await?;
    ensure!(applied.outcomes == [Outcome::Done], "a transition: {:?}", applied.outcomes);
    store.agrees(machine).await?;
    let work = store.has_work(id).await?;
    let expected = Work { token: 2, wake_at: Some(NOW), ..Work::default() };
    ensure!(work == expected, "after a transition: {work:#?}");
    // A retry of the batch is answered, although the lease is gone.
    let before = store.snapshot().await?;
    let again = store.accepts(batch).await?;
    ensure!(again.last == applied.last, "the same batch is answered with {again:?}");
    ensure!(before == store.snapshot().await?, "the same batch is written twice");
    Ok(())
}

/// A write by others is news; it does not end the lease.
async fn news(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let id = machine.id();
    let (token, seen) = store.claims(id, On::State).await?;
    let write = machine.update(1);
    store.accepts(batch([(&*machine, write)])).await?;
    store.happens(id, send("a")).await?;
    let work = store.has_work(id).await?;
    ensure!(work.news == seen + 2, "two news after {seen} make {}", work.news);
    ensure!(work.lease.is_some(), "news ended the lease");
    store.happens(id, park(token, seen, None)).await?;
    let work = store.has_work(id).await?;
    ensure!(work.wake_at == Some(NOW), "it sleeps over news: {work:#?}");
    store.parks(id, None).await?;
    let work = store.has_work(id).await?;
    ensure!(work.wake_at.is_none(), "it does not sleep: {work:#?}");
    let write = machine.update(1);
    store.accepts(batch([(&*machine, write)])).await?;
    let work = store.has_work(id).await?;
    ensure!(work.wake_at == Some(NOW), "a change does not wake it: {work:#?}");
    Ok(())
}

/// Rounds in which a handler only sends messages to its own machine are counted, until it is set aside.
async fn self_sends(store: &Subject, machine: &mut Machine) -> Result<(), String> {
    let id = machine.id();
    let round = async |sends_itself: bool| {
        let (token, news) = store.claims(id, On::State).await?;
        let mut event = park(token, news, Some(NOW));
        if let Event::Park(Park { sends_itself: sends, .. }) = &mut event {
            *sends = sends_itself;
        }
        store.happens(id, event).await
    };
    for (sends_itself, count) in [(true, 1), (true, 2), (false, 0), (true, 1)] {
        round(sends_itself).await?;
        let found = store.has_work(id).await?.self_sends;
        ensure!(found == count, "{found} rounds in a row, not {count}");
    }
    let (token, _) = store.claims(id, On::State).await?;
    let write = machine.update(1);
    let events = vec![(id, moved(token, None))];
    store.accepts(Batch { events, ..batch([(&*machine, write)]) }).await?;
    for number in 1..=MOST_SELF_SENDS {
        let is_last = number == MOST_SELF_SENDS;
        let expected = if is_last { Outcome::SetAside } else { Outcome::Done };
        let outcome = round(true).await?;
        ensure!(outcome == expected, "round {number} is answered with {outcome:?}");
    }
    let work = store.has_work(id).await?;
    ensure!(work.handler.set_aside && work.self_sends == 0, "it goes on: {work:#?}");
    store.happens(id, Event::Requeue { now: NOW, messages: Vec::new() }).await.map(drop)
}

fn refused(id: Id, refusal: Refusal) -> Rejected {
    Rejected::Refused { id, refusal }
}

fn alone(id: Id, event: Event) -> Batch {
    Batch { events: vec![(id, event)], ..commit(vec![], vec![]) }
}
