//! A parent decides what follows when a child fails, so nothing is tried again behind it.

use machine::{
    contract::{Contract, Execution},
    store::CommitError,
    view::{NextStep, Observer},
};
use machine_tests::{
    actors::{ann, tool_node},
    assert_err,
    samples::{Ticket, mail},
};

use crate::store::support::{Place, not_applied, on_both};

on_both! {
    a_retry_behind_a_parent_is_refused,
}

async fn a_retry_behind_a_parent_is_refused(place: Place) {
    let store = &place.store;
    let mut parent = Ticket::new();
    let mut child = Execution::new(mail("bob"));
    let of = parent.id();
    store.batch().create(&mut parent).create_child(of, &mut child).write().await.unwrap();
    assert_eq!(store.parent(child.id()).await.unwrap(), Some(of));
    assert_eq!(store.parent(of).await.unwrap(), None);
    let (running, permit) = store.begin(child, tool_node()).await.unwrap();
    let outcome = not_applied(permit, "mailbox full").await;
    let machine::contract::Settled::Failed(failed) =
        store.settle(running, outcome, tool_node()).await.unwrap()
    else {
        panic!("it failed")
    };

    let id = failed.id();
    let steps = Observer::new(store).next(id).await.unwrap();
    assert_eq!(steps, [NextStep::Show { id: of }]);
    let mut again = Execution::new(Contract::retry(&failed, ann()));
    assert_err!(store.create(&mut again).await,
        CommitError::OfParent { id: it, parent } if (*it, *parent) == (id, of));
    // As another child, its parent sees it.
    store.batch().create_child(of, &mut again).write().await.unwrap();
    let children: Vec<_> = store.children(of).await.unwrap().iter().map(|it| it.id).collect();
    assert_eq!(children, [id, again.id()]);
}
