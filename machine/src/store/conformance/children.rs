//! A machine that ends wakes its parent and those behind it, and asks its live child machines to
//! cancel.

use super::prelude::*;
use crate::store::backend::Child;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    for is_driven in [true, false] {
        let store = Subject::open(open);
        if is_driven {
            store.drives(&["job", "execution"]).await?;
        }
        family(&store, is_driven).await.map_err(|it| format!("driven: {is_driven}: {it}"))?;
    }
    Ok(())
}

async fn family(store: &Subject, is_driven: bool) -> Result<(), String> {
    let mut parent = Machine::job();
    store.accepts(parent.create()).await?;
    let mut eldest = child_of(store, &parent, Machine::execution()).await?;
    let mut second = child_of(store, &parent, Machine::job()).await?;
    let grandchild = child_of(store, &eldest, Machine::job()).await?;
    let mut waiting = Machine::job();
    waiting.row.behind = Some(eldest.id());
    let mut stranger = Machine::job();
    for machine in [&mut waiting, &mut stranger] {
        store.accepts(machine.create()).await?;
    }
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
    let expected = [child(&eldest), child(&second)];
    let found = store.children(parent_id).await?;
    ensure!(found == expected, "the children are {found:#?}\nand not {expected:#?}");

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
        let found = store.children(none).await?;
        ensure!(found.is_empty(), "{none} has the children {found:#?}");
    }
    let families = [
        (eldest_id, Some(parent_id)),
        (grandchild_id, Some(eldest_id)),
        (parent_id, None),
        (Id::fresh(), None),
    ];
    for (id, expected) in families {
        let found = store.parent(id).await?;
        ensure!(found == expected, "the parent of {id} is {found:?}, not {expected:?}");
    }
    Ok(())
}

/// Creates a machine as the child of another one.
async fn child_of(store: &Subject, parent: &Machine, mut it: Machine) -> Result<Machine, String> {
    let children = vec![it.child_of(parent.id())];
    store.accepts(WriteBatch { children, ..batch([it.create()]) }).await?;
    Ok(it)
}

fn child(machine: &Machine) -> Child {
    let row = machine.row.clone();
    Child {
        id: row.id,
        machine: row.machine,
        status: row.status,
        has_ended: row.ended,
        position: None,
        since: SINCE,
    }
}

async fn sleep(store: &Subject, ids: &[Id], is_driven: bool) -> Result<(), String> {
    for id in ids.iter().filter(|_| is_driven) {
        store.parks(*id, None).await?;
    }
    Ok(())
}

/// Exactly these are due now.
async fn woken(store: &Subject, all: &[Id], which: &[Id], is_driven: bool) -> Result<(), String> {
    for id in all.iter().filter(|_| is_driven) {
        let wakes_at = store.work(*id).await?.and_then(|work| work.wake);
        let expected = which.contains(id).then_some(Wake::ready(NOW));
        ensure!(wakes_at == expected, "{id} of {all:?} wakes at {wakes_at:?}, not {expected:?}");
    }
    Ok(())
}

/// The first of its children has ended at this time, since its handler last returned.
pub(super) async fn noted(store: &Subject, id: Id, expected: Option<Millis>) -> Result<(), String> {
    let found = store.work(id).await?.and_then(|work| work.ended_at());
    ensure!(found == expected, "a child of {id} has ended at {found:?}, not {expected:?}");
    Ok(())
}

/// These, and no others, have a message, from their parent.
pub(super) async fn cancelled(
    store: &Subject,
    all: &[Id],
    which: &[(Id, Id)],
) -> Result<(), String> {
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
    pub(super) async fn children(&self, parent: Id) -> Result<Vec<Child>, String> {
        let children = self.0.children(parent).await?;
        let sound: Result<Vec<_>, _> = children.into_iter().collect();
        sound.map_err(|broken| format!("a child is {broken:?}"))
    }

    async fn parent(&self, child: Id) -> Result<Option<Id>, String> {
        let parent = self.0.parent(child).await?;
        parent.map_err(|broken| format!("its parent is {broken:?}"))
    }
}
