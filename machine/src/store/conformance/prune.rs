//! Pruning deletes ended machines that are no longer needed, and leaves the chain, the attempts and
//! the numbers as they are.

use super::prelude::*;
use crate::store::upkeep::pruning::Link;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    deletes(open).await?;
    keeps(open).await?;
    keeps_families(open, None).await?;
    // A machine that is no call is kept, whatever its place.
    keeps_families(open, Some(0)).await?;
    forgets_calls(&Subject::open(open)).await
}

/// A pruned machine leaves only its digests and its attempts.
async fn deletes(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let (mut first, mut second) = (Machine::execution().with_key("k"), Machine::job());
    let mut rival = Machine::execution().with_key("k");
    let mut last = Machine::job();
    // The first batch has lines of both, so that one line of its transaction stays.
    store.accepts([first.create().takes("k"), second.create()]).await?;
    store.apply_event(first.id(), send("hello")).await?;
    let mut ends = first.end().turns("k", Hold::Applied);
    if let Some(change) = &mut ends.attempt {
        change.worker = None;
    }
    store.accepts(ends).await?;
    store.accepts(last.create()).await?;
    let (attempts, newest) = (store.attempts_at("k").await?, store.newest().await?);
    let chain = chain(&store).await?;

    let candidates = vec![of(&first)];
    let stale = Candidate { version: 1, ..of(&first) };
    prunes(&store, vec![stale], &[None]).await?;
    prunes(&store, candidates.clone(), &[Some(2)]).await?;
    prunes(&store, candidates, &[None]).await?;

    let found = store.0.rows(vec![first.id()]).await?.pop();
    ensure!(matches!(found, Some(FoundRow::Missing(_))), "the row is {found:?}");
    let (history, inbox) = (store.history(first.id()).await?, store.inbox(first.id()).await?);
    ensure!(history.is_empty() && inbox.is_empty(), "left: {history:?} {inbox:?}");
    store.agrees(&second).await?;
    store.agrees(&last).await?;
    let journal = store.journal(1).await?;
    let of_first = journal.iter().filter(|entry| entry.id == Some(first.id())).count();
    ensure!(journal.len() == 2 && of_first == 0, "the journal is {journal:#?}");
    let now = (store.attempts_at("k").await?, store.newest().await?);
    ensure!(now == (attempts, newest), "attempts and newest are {now:#?}");
    let after = self::chain(&store).await?;
    ensure!(after == chain, "the chain was {chain:?} and is {after:?}");
    let links = store.0.links(0, 9).await?.into_iter();
    let opened = |link| match link {
        Link::Pruned(seq, Ok(line)) => Some((seq, line.opened)),
        Link::Line(_) | Link::Pruned(..) => None,
    };
    // The first line of the machine took the key.
    let opened: Vec<_> = links.filter_map(opened).collect();
    ensure!(opened == [(1, true), (3, false)], "lines opened attempts: {opened:?}");

    // The key is still taken, and numbers continue.
    let (id, by) = (rival.id(), first.id());
    store.rejects(rival.create().takes("k"), Rejected::AlreadyDone { id, by }).await?;
    let seq = store.accepts(last.update(1)).await?.last[0];
    ensure!(seq == newest + 1, "the entry after {newest} is {seq}");
    Ok(())
}

/// A machine that is still needed is never pruned.
async fn keeps(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let (mut lives, mut gate) = (Machine::job(), Machine::execution());
    let mut waits = Machine::job();
    waits.row.behind = Some(gate.id());
    let mut calls = Machine::execution().with_key("k");
    let mut newest = Machine::job();
    let (created, taken) = (waits.create(), calls.create().takes("k"));
    for write in [lives.create(), gate.create(), gate.end(), created, taken] {
        store.accepts(write).await?;
    }
    // Unanswered, although it has ended and the key is free.
    let mut ends = calls.end().turns("k", Hold::Free);
    if let Some(change) = &mut ends.attempt {
        change.worker = Some("worker".to_owned());
    }
    store.accepts(ends).await?;
    store.accepts(newest.create()).await?;
    store.accepts(newest.end()).await?;

    let before = store.snapshot().await?;
    let candidates = [&lives, &gate, &waits, &calls, &newest].map(of).to_vec();
    prunes(&store, candidates, &[None; 5]).await?;
    let after = store.snapshot().await?;
    ensure!(before == after, "what was kept changed\nfrom {before}\nto {after}");

    // When the execution has ended, its gate is no longer needed.
    store.accepts(waits.end()).await?;
    store.accepts(lives.update(1)).await?;
    let candidates = [&gate, &waits].map(of).to_vec();
    prunes(&store, candidates, &[Some(2), Some(2)]).await
}

/// A family stays until its head has ended, and its head until all of it has ended.
async fn keeps_families(open: &Open<'_>, position: Option<u32>) -> Result<(), String> {
    let with_place = |child: NewChild| vec![NewChild { position, ..child }];
    let store = Subject::open(open);
    let mut family: Vec<Machine> = (0..3).map(|_| Machine::job()).collect();
    store.accepts(family[0].create()).await?;
    for at in 1..3 {
        let children = with_place(family[at].child_of(family[at - 1].id()));
        store.accepts(WriteBatch { children, ..batch([family[at].create()]) }).await?;
    }
    let mut newest = Machine::job();
    store.accepts(newest.create()).await?;
    // The grandchild has ended, but none of its ancestors.
    store.accepts(family[2].end()).await?;
    keeps_all(&store, &mut newest, &family).await?;
    store.accepts(family[1].end()).await?;
    keeps_all(&store, &mut newest, &family).await?;
    // A head that has ended before its youngest.
    let mut other: Vec<Machine> = (0..2).map(|_| Machine::job()).collect();
    store.accepts(other[0].create()).await?;
    let children = with_place(other[1].child_of(other[0].id()));
    store.accepts(WriteBatch { children, ..batch([other[1].create()]) }).await?;
    store.accepts(other[0].end()).await?;
    store.accepts(Machine::job().create()).await?;
    keeps_all(&store, &mut newest, &other).await?;

    store.accepts(family[0].end()).await?;
    store.accepts(newest.update(1)).await?;
    let candidates: Vec<_> = family.iter().map(of).collect();
    prunes(&store, candidates, &[Some(2); 3]).await?;
    for machine in &family {
        let children = store.0.children(machine.id()).await?;
        ensure!(children.is_empty(), "children of a missing machine: {children:?}");
    }
    Ok(())
}

/// A call goes before its machine, once that has left the state and waits for it no longer.
async fn forgets_calls(store: &Subject) -> Result<(), String> {
    store.drives(&["job"]).await?;
    let [mut parent, mut child] = [(); 2].map(|()| Machine::job());
    let [mut taken, mut untaken, mut dropped, mut lives] =
        [(); 4].map(|()| Machine::execution().with_key("k"));
    store.accepts(parent.create()).await?;
    let id = parent.id();
    let children = vec![
        taken.call_of(id, 0),
        untaken.call_of(id, 1),
        dropped.child_of(id),
        lives.call_of(id, 2),
        child.child_of(id),
    ];
    let calls = [&mut taken, &mut untaken, &mut dropped, &mut lives, &mut child];
    let creates = calls.map(Machine::create);
    store.accepts(WriteBatch { children, ..batch(creates) }).await?;
    store.accepts(taken.update(1).takes("k")).await?;
    store.accepts(taken.end().turns("k", Hold::Applied)).await?;
    for machine in [&mut untaken, &mut dropped, &mut child] {
        store.accepts(machine.end()).await?;
    }
    store.takes(&mut parent, &taken).await?;
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
    ensure!(left == [untaken.id(), lives.id(), child.id()], "the children are {left:?}");
    // The key is still taken.
    let now = store.attempts_at("k").await?;
    ensure!(now == attempts, "the attempts were {attempts:#?}, and are {now:#?}");
    let mut again = Machine::execution().with_key("k");
    let done = Rejected::AlreadyDone { id: again.id(), by: taken.id() };
    store.rejects(again.create().takes("k"), done).await
}

/// A machine comes into a state with the entry of this number.
async fn enters(store: &Subject, machine: &mut Machine, entry: u64) -> Result<(), String> {
    let mut write = machine.update(1);
    write.row.summary = format!(r#"{{"entered":{entry}}}"#);
    machine.row.summary.clone_from(&write.row.summary);
    store.accepts(write).await.map(drop)
}

fn of(machine: &Machine) -> Candidate {
    Candidate { id: machine.id(), version: machine.row.version }
}

async fn keeps_all(
    store: &Subject,
    newest: &mut Machine,
    machines: &[Machine],
) -> Result<(), String> {
    store.accepts(newest.update(1)).await?;
    let candidates = machines.iter().map(of).collect();
    prunes(store, candidates, &vec![None; machines.len()]).await
}

async fn prunes(
    store: &Subject,
    prune: Vec<Candidate>,
    expected: &[Option<u64>],
) -> Result<(), String> {
    let done = store.accepts(WriteBatch { prune, ..batch([]) }).await?.pruned;
    ensure!(done == expected, "pruning says {done:?}, not {expected:?}");
    Ok(())
}

/// Every digest of the chain, which must be whole.
async fn chain(store: &Subject) -> Result<Vec<(u64, Digest, Option<Digest>)>, String> {
    let mut all: Vec<(u64, Digest, Option<Digest>)> = Vec::new();
    loop {
        let after = all.last().map_or(0, |(seq, ..)| *seq);
        let links = store.0.links(after, 2).await?;
        if links.is_empty() {
            break;
        }
        for link in links {
            let seq = link.seq();
            let (digest, chain) = match link {
                Link::Line(line) => match line.line {
                    Ok(digested) => (digested.digest, line.chain),
                    Err(broken) => return Err(format!("entry {seq} is {broken:?}")),
                },
                Link::Pruned(_, Ok(line)) => (line.digest, line.chain),
                Link::Pruned(_, Err(broken)) => return Err(format!("entry {seq} is {broken:?}")),
            };
            ensure!(seq == all.len() as u64 + 1, "link {seq} comes after {after}");
            all.push((seq, digest, chain));
        }
    }
    let (mut previous, mut digests) = (Digest::ZERO, Vec::new());
    for (seq, digest, chain) in &all {
        digests.push(digest);
        let Some(chain) = chain else { continue };
        let mut parts = vec![previous.bytes().as_slice()];
        parts.extend(digests.iter().map(|digest| digest.bytes().as_slice()));
        ensure!(*chain == settings().key.digest(&parts), "the chain is broken before {seq}");
        (previous, digests) = (*chain, Vec::new());
    }
    ensure!(digests.is_empty(), "the chain does not cover the last {}", digests.len());
    Ok(all)
}
