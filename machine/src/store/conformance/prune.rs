//! Pruning deletes ended machines that are no longer needed, and leaves the chain, the attempts and
//! the numbers as they are.

use super::prelude::*;
use crate::store::upkeep::pruning::Link;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    deletes(&Subject::open(open)).await?;
    keeps(&Subject::open(open)).await?;
    keeps_families(&Subject::open(open), None).await?;
    // A machine that is no call is kept, whatever its place.
    keeps_families(&Subject::open(open), Some(0)).await?;
    forgets_calls(&Subject::open(open)).await
}

/// A pruned machine leaves only its digests and its attempts.
async fn deletes(store: &Subject) -> Kept {
    let (mut first, mut second) = (Machine::execution().with_key("k"), Machine::job());
    let mut rival = Machine::execution().with_key("k");
    let mut last = Machine::job();
    // The first batch has lines of both, so that one line of its transaction stays.
    store.accepts([first.create().takes("k"), second.create()]).await?;
    store.apply_event(first.id(), send("hello")).await?;
    store.accepts(first.end().turns("k", Hold::Applied)).await?;
    store.accepts(last.create()).await?;
    let (attempts, newest) = (store.attempts_at("k").await?, store.newest().await?);
    let chain = store.chain(&settings().key).await?;

    prunes(store, vec![Candidate { version: 1, ..of(&first) }], &[None]).await?;
    prunes(store, vec![of(&first)], &[Some(2)]).await?;
    prunes(store, vec![of(&first)], &[None]).await?;

    let found = store.0.rows(vec![first.id()]).await?.pop();
    ensure!(matches!(found, Some(FoundRow::Missing(_))), "the row is {found:?}");
    let (history, inbox) = (store.history(first.id()).await?, store.inbox(first.id()).await?);
    ensure!(history.is_empty() && inbox.is_empty(), "left: {history:?} {inbox:?}");
    store.agrees(&second).await?;
    store.agrees(&last).await?;
    let journal = store.journal(1).await?;
    let ids: Vec<_> = journal.iter().map(|entry| entry.id).collect();
    same!(ids, [Some(second.id()), Some(last.id())], "the machines of the journal");
    same!(store.attempts_at("k").await?, attempts, "the attempts");
    same!(store.newest().await?, newest, "the newest number");
    same!(store.chain(&settings().key).await?, chain, "the chain");
    let links = store.0.links(0, 9).await?.into_iter();
    let opened = |link| match link {
        Link::Pruned(seq, Ok(line)) => Some((seq, line.opened)),
        Link::Line(_) | Link::Pruned(..) => None,
    };
    // The first line of the machine took the key.
    same!(links.filter_map(opened).collect::<Vec<_>>(), [(1, true), (3, false)], "opened attempts");

    // The key is still taken, and numbers continue.
    let (id, by) = (rival.id(), first.id());
    store.rejects(rival.create().takes("k"), CommitError::AlreadyDone { id, by }).await?;
    same!(store.accepts(last.update(1)).await?.last, [newest + 1], "the next entry");
    Ok(())
}

/// A machine that is still needed is never pruned.
async fn keeps(store: &Subject) -> Kept {
    let (mut lives, mut gate) = (Machine::job(), Machine::execution());
    let mut waits = Machine::job();
    waits.row.behind = Some(gate.id());
    let mut calls = Machine::execution().with_key("k");
    let mut newest = Machine::job();
    // Unanswered, although it has ended and the key is free.
    let taken = calls.create().takes("k");
    let mut ends = calls.end().turns("k", Hold::Free);
    if let Some(change) = &mut ends.attempt {
        change.worker = Some("worker".to_owned());
    }
    for write in [
        lives.create(),
        gate.create(),
        gate.end(),
        waits.create(),
        taken,
        ends,
        newest.create(),
        newest.end(),
    ] {
        store.accepts(write).await?;
    }

    let candidates = [&lives, &gate, &waits, &calls, &newest].map(of).to_vec();
    store.unchanged(prunes(store, candidates, &[None; 5])).await?;

    // When the execution has ended, its gate is no longer needed.
    store.accepts(waits.end()).await?;
    store.accepts(lives.update(1)).await?;
    prunes(store, vec![of(&gate), of(&waits)], &[Some(2), Some(2)]).await
}

/// A family stays until its head has ended, and its head until all of it has ended.
async fn keeps_families(store: &Subject, position: Option<u32>) -> Kept {
    let mut family = [(); 3].map(|()| Machine::job());
    let [head, child, grandchild] = &mut family;
    let mut newest = Machine::job();
    store.accepts(head.create()).await?;
    store.adds(NewChild { position, ..child.child_of(head.id()) }, child).await?;
    store.adds(NewChild { position, ..grandchild.child_of(child.id()) }, grandchild).await?;
    store.accepts(newest.create()).await?;
    // The grandchild has ended, but none of its ancestors.
    store.accepts(grandchild.end()).await?;
    keeps_all(store, &mut newest, &family).await?;
    store.accepts(family[1].end()).await?;
    keeps_all(store, &mut newest, &family).await?;
    // A head that has ended before its youngest.
    let mut other = [(); 2].map(|()| Machine::job());
    let [head, child] = &mut other;
    store.accepts(head.create()).await?;
    store.adds(NewChild { position, ..child.child_of(head.id()) }, child).await?;
    store.accepts(head.end()).await?;
    store.accepts(Machine::job().create()).await?;
    keeps_all(store, &mut newest, &other).await?;

    store.accepts(family[0].end()).await?;
    store.accepts(newest.update(1)).await?;
    prunes(store, family.iter().map(of).collect(), &[Some(2); 3]).await?;
    for machine in &family {
        same!(store.children(machine.id()).await?, [], "the children of a missing machine");
    }
    Ok(())
}

/// A call goes before its machine, once that has left the state and waits for it no longer.
async fn forgets_calls(store: &Subject) -> Kept {
    store.drives(&["job"]).await?;
    let [mut parent, mut child] = [(); 2].map(|()| Machine::job());
    let [mut taken, mut untaken, mut dropped, mut lives] =
        [(); 4].map(|()| Machine::execution().with_key("k"));
    store.accepts(parent.create()).await?;
    let id = parent.id();
    store.adds(taken.call_of(id, 0), &mut taken).await?;
    store.adds(untaken.call_of(id, 1), &mut untaken).await?;
    store.adds(dropped.child_of(id), &mut dropped).await?;
    store.adds(lives.call_of(id, 2), &mut lives).await?;
    store.adds(child.child_of(id), &mut child).await?;
    store.accepts(taken.update(1).takes("k")).await?;
    store.accepts(taken.end().turns("k", Hold::Applied)).await?;
    for machine in [&mut untaken, &mut dropped, &mut child] {
        store.accepts(machine.end()).await?;
    }
    store.takes(&mut parent, &outcome_of(taken.id())).await?;
    let attempts = store.attempts_at("k").await?;
    store.accepts(Machine::job().create()).await?;

    let all = || [&taken, &untaken, &dropped, &lives, &child].map(of).to_vec();
    enters(store, &mut parent, SINCE - 1).await?;
    prunes(store, all(), &[None; 5]).await?;
    enters(store, &mut parent, SINCE).await?;
    prunes(store, all(), &[Some(3), None, Some(2), None, None]).await?;
    store.agrees(&parent).await?;
    let inbox: Vec<_> = store.inbox(id).await?.into_iter().map(|it| it.correlation).collect();
    ensure!(inbox == [outcome_of(untaken.id())], "the inbox has {inbox:?}");
    let left: Vec<_> = store.children(id).await?.iter().map(|child| child.id).collect();
    same!(left, [untaken.id(), lives.id(), child.id()], "the children");
    // The key is still taken.
    same!(store.attempts_at("k").await?, attempts, "the attempts");
    let mut again = Machine::execution().with_key("k");
    let done = Rejected::Commit(CommitError::AlreadyDone { id: again.id(), by: taken.id() });
    store.rejects(again.create().takes("k"), done).await
}

/// A machine comes into a state with the entry of this number.
async fn enters(store: &Subject, machine: &mut Machine, entry: u64) -> Kept {
    let write = machine.update(1).enters(entry);
    machine.row.summary.clone_from(&write.row.summary);
    store.accepts(write).await.map(drop)
}

fn of(machine: &Machine) -> Candidate {
    Candidate { id: machine.id(), version: machine.row.version }
}

async fn keeps_all(store: &Subject, newest: &mut Machine, machines: &[Machine]) -> Kept {
    store.accepts(newest.update(1)).await?;
    prunes(store, machines.iter().map(of).collect(), &vec![None; machines.len()]).await
}

async fn prunes(store: &Subject, prune: Vec<Candidate>, expected: &[Option<u64>]) -> Kept {
    let done = store.accepts(WriteBatch { prune, ..batch([]) }).await?.pruned;
    same!(done, expected, "what is pruned");
    Ok(())
}
