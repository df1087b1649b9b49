//! A batch that must leave no call behind is refused while one is under way, or took effect and was
//! not taken.

use super::prelude::*;
use crate::store::write::under_way::CALLS;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    keeps(&Subject::open(open)).await?;
    of_one_entry(&Subject::open(open)).await?;
    within_a_batch(&Subject::open(open)).await
}

/// Each moment of a call, and whether it keeps its machine.
async fn keeps(store: &Subject) -> Result<(), String> {
    store.drives(&["job"]).await?;
    for (key, hold, keeps_after_its_end) in [
        ("applied", Hold::Applied, true),
        ("released", Hold::Released, false),
        ("free", Hold::Free, false),
    ] {
        for position in [Some(0), None] {
            let key = format!("{key} {position:?}");
            let (mut parent, mut other) = (Machine::job(), Machine::job());
            let mut it = Machine::execution().with_key(&key);
            let child = it.child_of(parent.id());
            let children = vec![NewChild { position, ..child }];
            let creates = [parent.create(), other.create(), it.create()];
            store.accepts(WriteBatch { children, ..batch(creates) }).await?;
            let is_call = position.is_some();
            store.keeps(&mut parent, &it, false).await?;
            store.accepts(it.update(1).takes(&key)).await?;
            store.keeps(&mut parent, &it, is_call).await?;
            // It keeps no other machine.
            store.keeps(&mut other, &it, false).await?;
            store.accepts(it.end().turns(&key, hold)).await?;
            let keeps = is_call && keeps_after_its_end;
            store.keeps(&mut parent, &it, keeps).await?;
            if !keeps {
                continue;
            }
            // Nobody could take it, until a person lets a worker try again.
            let (token, _) = store.claims(parent.id(), Attempted::Recheck).await?;
            let refused = vec![(outcome_of(it.id()), "unreadable".to_owned())];
            let on = Attempted::Recheck;
            let wait = Wait { token, refused, now: NOW, on, ..Wait::default() };
            store.apply_event(parent.id(), Event::Wait(wait)).await?;
            store.keeps(&mut parent, &it, true).await?;
            let messages = vec![outcome_of(it.id())];
            store.apply_event(parent.id(), Event::Requeue { now: NOW, messages }).await?;
            store.takes(&mut parent, &it).await?;
            store.keeps(&mut parent, &it, false).await?;
        }
    }
    Ok(())
}

/// A call keeps the entry that made it, and no other one.
async fn of_one_entry(store: &Subject) -> Result<(), String> {
    store.drives(&["job"]).await?;
    let (mut parent, mut call) = (Machine::job(), Machine::execution().with_key("one entry"));
    let id = parent.id();
    let children = vec![call.call_of(id, 0)];
    let creates = [parent.create(), call.create().takes("one entry")];
    store.accepts(WriteBatch { children, ..batch(creates) }).await?;
    let leaves = |parent: &mut Machine, since| WriteBatch {
        conditions: vec![Condition::NoCallUnderWay {
            parent: id,
            since: Some(since),
            except: Vec::new(),
        }],
        ..batch([parent.update(1)])
    };
    let refused = leaves(&mut parent.clone(), SINCE);
    store.rejects(refused, Rejected::UnderWay { id, call: call.id() }).await?;
    store.accepts(leaves(&mut parent, SINCE + 1)).await.map(drop)
}

/// What the batch itself does counts.
async fn within_a_batch(store: &Subject) -> Result<(), String> {
    store.drives(&["job"]).await?;
    let (mut parent, mut begun, mut planned) = (
        Machine::job(),
        Machine::execution().with_key("begun"),
        Machine::execution().with_key("planned"),
    );
    let id = parent.id();
    let children = vec![begun.call_of(id, 0), planned.call_of(id, 1)];
    let creates = [parent.create(), begun.create().takes("begun"), planned.create()];
    store.accepts(WriteBatch { children, ..batch(creates) }).await?;
    let with = |write| WriteBatch {
        conditions: vec![Condition::NoCallUnderWay {
            parent: id,
            since: None,
            except: vec![begun.id()],
        }],
        ..batch([write])
    };
    // One begins with the batch.
    let begins = planned.clone().update(1).takes("planned");
    store.rejects(with(begins), Rejected::UnderWay { id, call: planned.id() }).await?;
    // A new one, and a child that becomes a call.
    let mut new = Machine::execution().with_key("new");
    let children = vec![new.call_of(id, 0)];
    let created = WriteBatch { children, ..with(new.clone().create().takes("new")) };
    store.rejects(created, Rejected::UnderWay { id, call: new.id() }).await?;
    let children = vec![new.child_of(id)];
    store.accepts(WriteBatch { children, ..batch([new.create().takes("new")]) }).await?;
    let place = |machine: &Machine, position| MovedChild {
        child: machine.id(),
        parent: id,
        since: SINCE,
        position,
    };
    let becomes = WriteBatch {
        moved_children: vec![place(&new, Some(5))],
        ..with(planned.clone().update(1))
    };
    store.rejects(becomes, Rejected::UnderWay { id, call: new.id() }).await?;

    let alone = |writes: Vec<_>| WriteBatch {
        conditions: vec![Condition::NoCallUnderWay { parent: id, since: None, except: Vec::new() }],
        ..batch(writes)
    };
    // One ends with the batch: applied, its outcome was not taken.
    let applied = begun.clone().end().turns("begun", Hold::Applied);
    store.rejects(alone(vec![applied]), Rejected::UnderWay { id, call: begun.id() }).await?;
    // It is dropped, or its key is free.
    let drops =
        WriteBatch { moved_children: vec![place(&begun, None)], ..alone(vec![planned.update(1)]) };
    store.accepts(drops).await?;
    store.accepts(WriteBatch { moved_children: vec![place(&begun, Some(0))], ..batch([]) }).await?;
    store.keeps(&mut parent, &begun, true).await?;
    store.accepts(alone(vec![begun.clone().end().turns("begun", Hold::Released)])).await?;
    yields(store, &mut parent).await?;
    taken_with_the_batch(store, &mut parent, false).await?;
    taken_with_the_batch(store, &mut parent, true).await
}

/// A call that the batch withdraws, and that begins before it, stays a call.
async fn yields(store: &Subject, parent: &mut Machine) -> Result<(), String> {
    let (id, mut it) = (parent.id(), Machine::execution().with_key("yields"));
    let children = vec![it.call_of(id, 3)];
    store.accepts(WriteBatch { children, ..batch([it.create()]) }).await?;
    let withdrawn = |write, parent: &mut Machine| WriteBatch {
        moved_children: vec![MovedChild {
            child: it.id(),
            parent: id,
            since: SINCE,
            position: None,
        }],
        yielding: vec![it.id()],
        conditions: vec![Condition::NoCallUnderWay { parent: id, since: None, except: Vec::new() }],
        ..batch([parent.update(1), write])
    };
    let late = withdrawn(it.clone().end(), &mut parent.clone());
    let mut begun = it.clone();
    store.accepts(begun.update(1).takes("yields")).await?;
    store.rejects(late, Rejected::UnderWay { id, call: it.id() }).await?;
    store.accepts(withdrawn(begun.end().turns("yields", Hold::Released), parent)).await.map(drop)
}

/// The batch takes the outcome, by a transition or without one.
async fn taken_with_the_batch(
    store: &Subject,
    parent: &mut Machine,
    acknowledges: bool,
) -> Result<(), String> {
    let (id, key) = (parent.id(), format!("acknowledges {acknowledges}"));
    let mut it = Machine::execution().with_key(&key);
    let children = vec![it.call_of(id, 7)];
    store.accepts(WriteBatch { children, ..batch([it.create().takes(&key)]) }).await?;
    store.accepts(it.end().turns(&key, Hold::Applied)).await?;
    store.keeps(parent, &it, true).await?;
    let correlation = outcome_of(it.id());
    let (token, _) = store.claims(id, Attempted::Message(correlation.clone())).await?;
    let takes = if acknowledges {
        Event::Acknowledge { token, messages: vec![correlation] }
    } else {
        moved(token, Some(&correlation))
    };
    let conditions =
        vec![Condition::NoCallUnderWay { parent: id, since: None, except: Vec::new() }];
    let events = vec![(id, takes)];
    store.accepts(WriteBatch { events, conditions, ..batch([parent.update(1)]) }).await?;
    store.keeps(parent, &it, false).await
}

impl Subject {
    /// A worker takes the outcome of a call.
    pub(super) async fn takes(&self, parent: &mut Machine, call: &Machine) -> Result<(), String> {
        let (id, correlation) = (parent.id(), outcome_of(call.id()));
        let (token, _) = self.claims(id, Attempted::Message(correlation.clone())).await?;
        let events = vec![(id, moved(token, Some(&correlation)))];
        self.accepts(WriteBatch { events, ..batch([parent.update(1)]) }).await.map(drop)
    }

    /// A call keeps a machine in its state, unless it is an exception; or it does not.
    async fn keeps(&self, parent: &mut Machine, call: &Machine, keeps: bool) -> Result<(), String> {
        let (id, call) = (parent.id(), call.id());
        let leaves = |parent: &mut Machine, except| WriteBatch {
            conditions: vec![Condition::NoCallUnderWay { parent: id, since: None, except }],
            ..batch([parent.update(1)])
        };
        if keeps {
            let refused = leaves(&mut parent.clone(), Vec::new());
            self.rejects(refused, Rejected::UnderWay { id, call }).await?;
        }
        let except = if keeps { vec![call] } else { Vec::new() };
        self.accepts(leaves(parent, except)).await.map(drop)
    }
}

#[test]
fn a_call_is_an_execution() {
    assert_eq!(CALLS, crate::contract::execution::DEFINITION.name);
}
