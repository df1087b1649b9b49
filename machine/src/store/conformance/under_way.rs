//! A batch that must leave no call behind is refused while one is under way, or took effect and was
//! not taken.

use super::prelude::*;
use crate::store::write::under_way::CALLS;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    store.drives(&["job"]).await?;
    keeps(&store).await?;
    of_one_entry(&store).await?;
    within_a_batch(&store).await
}

/// No call of this machine may be under way, apart from these.
fn no_call(parent: Id, since: Option<u64>, except: &[Id]) -> Vec<Condition> {
    vec![Condition::NoCallUnderWay { parent, since, except: except.to_vec() }]
}

/// Each moment of a call, and whether it keeps its machine.
async fn keeps(store: &Subject) -> Kept {
    for (key, hold, keeps_after_its_end) in [
        ("applied", Hold::Applied, true),
        ("released", Hold::Released, false),
        ("free", Hold::Free, false),
    ] {
        for position in [Some(0), None] {
            let key = format!("{key} {position:?}");
            let (mut parent, mut other) = (Machine::job(), Machine::job());
            let mut it = Machine::execution().with_key(&key);
            let id = parent.id();
            store.creates([&mut parent, &mut other]).await?;
            store.adds(NewChild { position, ..it.child_of(id) }, &mut it).await?;
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
            let outcome = outcome_of(it.id());
            let (token, _) = store.claims(id, Attempted::Recheck).await?;
            let refused = vec![(outcome.clone(), "unreadable".to_owned())];
            let wait = Wait { token, refused, now: NOW, ..Wait::default() };
            store.apply_event(id, Event::Wait(wait)).await?;
            store.keeps(&mut parent, &it, true).await?;
            store.apply_event(id, requeue(&[outcome.as_str()])).await?;
            store.takes(&mut parent, &outcome).await?;
            store.keeps(&mut parent, &it, false).await?;
        }
    }
    Ok(())
}

/// A call keeps the entry that made it, and no other one.
async fn of_one_entry(store: &Subject) -> Kept {
    let (mut parent, mut call) = (Machine::job(), Machine::execution().with_key("one entry"));
    let id = parent.id();
    store.accepts(parent.create()).await?;
    store.adds(call.call_of(id, 0), &mut call).await?;
    store.accepts(call.update(1).takes("one entry")).await?;
    let write = parent.update(1);
    let leaves =
        |since| WriteBatch { conditions: no_call(id, Some(since), &[]), ..batch([write.clone()]) };
    store.rejects(leaves(SINCE), CommitError::UnderWay { id, call: call.id() }).await?;
    store.accepts(leaves(SINCE + 1)).await.map(drop)
}

/// What the batch itself does counts.
async fn within_a_batch(store: &Subject) -> Kept {
    let mut parent = Machine::job();
    let [mut begun, mut planned, mut new] =
        ["begun", "planned", "new"].map(|key| Machine::execution().with_key(key));
    let id = parent.id();
    let under_way = |it: &Machine| Rejected::Commit(CommitError::UnderWay { id, call: it.id() });
    store.accepts(parent.create()).await?;
    store.adds(begun.call_of(id, 0), &mut begun).await?;
    store.adds(planned.call_of(id, 1), &mut planned).await?;
    store.accepts(begun.update(1).takes("begun")).await?;
    let conditions = || no_call(id, None, &[begun.id()]);
    let with = |write: Write| WriteBatch { conditions: conditions(), ..batch([write]) };
    // One begins with the batch.
    let begins = planned.clone().update(1).takes("planned");
    store.rejects(with(begins), under_way(&planned)).await?;
    // A new one, and a child that becomes a call.
    let children = vec![new.call_of(id, 0)];
    let created = with(new.clone().create().takes("new"));
    store.rejects(WriteBatch { children, ..created }, under_way(&new)).await?;
    store.adds(new.child_of(id), &mut new).await?;
    store.accepts(new.update(1).takes("new")).await?;
    let moved_children = vec![new.moved_to(id, SINCE, Some(5))];
    let becomes = with(planned.clone().update(1));
    store.rejects(WriteBatch { moved_children, ..becomes }, under_way(&new)).await?;

    let alone = |write: Write| WriteBatch { conditions: no_call(id, None, &[]), ..batch([write]) };
    // One ends with the batch: applied, its outcome was not taken.
    let applied = begun.clone().end().turns("begun", Hold::Applied);
    store.rejects(alone(applied), under_way(&begun)).await?;
    // It is dropped, or its key is free.
    let moved_children = vec![begun.moved_to(id, SINCE, None)];
    store.accepts(WriteBatch { moved_children, ..alone(planned.update(1)) }).await?;
    store.moves([begun.moved_to(id, SINCE, Some(0))]).await?;
    store.keeps(&mut parent, &begun, true).await?;
    store.accepts(alone(begun.clone().end().turns("begun", Hold::Released))).await?;
    taken_with_the_batch(store, &mut parent, false).await?;
    taken_with_the_batch(store, &mut parent, true).await
}

/// The batch takes the outcome, by a transition or without one.
async fn taken_with_the_batch(store: &Subject, parent: &mut Machine, acknowledges: bool) -> Kept {
    let (id, key) = (parent.id(), format!("acknowledges {acknowledges}"));
    let mut it = Machine::execution().with_key(&key);
    store.adds(it.call_of(id, 7), &mut it).await?;
    store.accepts(it.update(1).takes(&key)).await?;
    store.accepts(it.end().turns(&key, Hold::Applied)).await?;
    store.keeps(parent, &it, true).await?;
    let correlation = outcome_of(it.id());
    let (token, _) = store.claims(id, Attempted::Message(correlation.clone())).await?;
    let takes = if acknowledges {
        Event::Acknowledge { token, messages: vec![correlation] }
    } else {
        moved(token, Some(&correlation))
    };
    let (events, conditions) = (vec![(id, takes)], no_call(id, None, &[]));
    store.accepts(WriteBatch { events, conditions, ..batch([parent.update(1)]) }).await?;
    store.keeps(parent, &it, false).await
}

impl Subject {
    /// A call keeps a machine in its state, unless it is an exception; or it does not.
    async fn keeps(&self, parent: &mut Machine, call: &Machine, keeps: bool) -> Kept {
        let (id, call) = (parent.id(), call.id());
        let write = parent.update(1);
        let leaves = |except: &[Id]| WriteBatch {
            conditions: no_call(id, None, except),
            ..batch([write.clone()])
        };
        if keeps {
            self.rejects(leaves(&[]), CommitError::UnderWay { id, call }).await?;
            self.accepts(leaves(&[call])).await.map(drop)
        } else {
            self.accepts(leaves(&[])).await.map(drop)
        }
    }
}

#[test]
fn a_call_is_an_execution() {
    assert_eq!(CALLS, crate::contract::execution::DEFINITION.name);
}
