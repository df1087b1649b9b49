//! A machine that ends wakes its parent and those behind it, and asks its live child machines to
//! cancel.

use super::prelude::*;
use crate::store::backend::Child;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    for is_driven in [true, false] {
        let store = Subject::open(open);
        if is_driven {
            store.drives(&["job", "execution"]).await?;
        }
        family(&store, is_driven).await.map_err(|it| format!("driven: {is_driven}: {it}"))?;
    }
    Ok(())
}

async fn family(store: &Subject, is_driven: bool) -> Kept {
    let [mut parent, mut second, mut grandchild, mut waiting, mut stranger] =
        [(); 5].map(|()| Machine::job());
    let mut eldest = Machine::execution();
    store.accepts(parent.create()).await?;
    store.adds(eldest.child_of(parent.id()), &mut eldest).await?;
    store.adds(second.child_of(parent.id()), &mut second).await?;
    store.adds(grandchild.child_of(eldest.id()), &mut grandchild).await?;
    waiting.row.behind = Some(eldest.id());
    store.creates([&mut waiting, &mut stranger]).await?;
    let all = [&parent, &eldest, &second, &grandchild, &waiting, &stranger].map(Machine::id);
    let [parent_id, eldest_id, second_id, grandchild_id, waiting_id, _] = all;
    sleep(store, &all, is_driven).await?;

    // A change that ends nothing concerns no other machine.
    store.accepts(second.update(1)).await?;
    woken(store, &all, &[second_id], is_driven).await?;
    sleep(store, &[second_id], is_driven).await?;

    store.accepts(eldest.end()).await?;
    woken(store, &all, &[parent_id, waiting_id, grandchild_id], is_driven).await?;
    cancelled(store, &all, &[(grandchild_id, eldest_id)]).await?;
    noted(store, parent_id, is_driven.then_some(NOW)).await?;
    if is_driven {
        // A call of the handler that fails changes nothing about it.
        let (token, _) = store.claims(parent_id, Attempted::State).await?;
        store.apply_event(parent_id, fail(token, Attempted::State, "no")).await?;
        noted(store, parent_id, Some(NOW)).await?;
    }
    same!(store.children(parent_id).await?, [child(&eldest), child(&second)], "the children");

    // Only those that live are asked, by their own parent, once.
    sleep(store, &[parent_id, waiting_id, grandchild_id], is_driven).await?;
    for id in all {
        noted(store, id, None).await?;
    }
    store.accepts(parent.end()).await?;
    woken(store, &all, &[second_id], is_driven).await?;
    let asked = [(grandchild_id, eldest_id), (second_id, parent_id)];
    cancelled(store, &all, &asked).await?;
    store.accepts(parent.update(1)).await?;
    cancelled(store, &all, &asked).await?;
    for none in [grandchild_id, waiting_id, Id::fresh()] {
        same!(store.children(none).await?, [], "the children of {none}");
    }
    let parents = [Some(parent_id), Some(eldest_id), None, None];
    for (id, expected) in
        [eldest_id, grandchild_id, parent_id, Id::fresh()].into_iter().zip(parents)
    {
        same!(store.0.parent(id).await?, Ok(expected), "the parent of {id}");
    }
    Ok(())
}

fn child(machine: &Machine) -> Child {
    let Row { id, machine, status, ended: has_ended, .. } = machine.row.clone();
    Child { id, machine, status, has_ended, position: None, since: SINCE }
}

async fn sleep(store: &Subject, ids: &[Id], is_driven: bool) -> Kept {
    for id in ids.iter().filter(|_| is_driven) {
        store.parks(*id, None).await?;
    }
    Ok(())
}

/// Exactly these are due now.
async fn woken(store: &Subject, all: &[Id], which: &[Id], is_driven: bool) -> Kept {
    for id in all.iter().filter(|_| is_driven) {
        let wake = store.work(*id).await?.and_then(|work| work.wake);
        let expected = which.contains(id).then_some(Wake::ready(NOW));
        same!(wake, expected, "the wake of {id} of {all:?}");
    }
    Ok(())
}

/// The first of its children has ended at this time, since its handler last returned.
pub(super) async fn noted(store: &Subject, id: Id, expected: Option<Millis>) -> Kept {
    let found = store.work(id).await?.and_then(|work| work.ended_at());
    same!(found, expected, "the end of a child of {id}");
    Ok(())
}

/// These, and no others, have a message, from their parent.
pub(super) async fn cancelled(store: &Subject, all: &[Id], which: &[(Id, Id)]) -> Kept {
    for id in all {
        let inbox = store.inbox(*id).await?;
        let by: Vec<_> = which.iter().filter(|(child, _)| child == id).map(|it| it.1).collect();
        ensure!(inbox.len() == by.len(), "{id} of {all:?} has {inbox:#?}, by {by:?}");
        for (message, by) in inbox.iter().zip(by) {
            let is_cancel = message.body.contains(r#""trigger":"cancel""#);
            let says_who = message.correlation.contains(&by.to_string());
            ensure!(is_cancel && says_who, "{by} sent {message:#?}");
        }
    }
    Ok(())
}

impl Subject {
    pub(super) async fn children(&self, parent: Id) -> Kept<Vec<Child>> {
        sound(self.0.children(parent).await?)
    }
}
