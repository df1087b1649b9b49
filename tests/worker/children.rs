//! Children: their parent is woken when all have ended, and takes them along when it ends first.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use machine::{
    Id,
    actor::{GraphRunner, Human},
    contract::{AnyExecution, Contract, Planned, execution},
    machine,
    store::{Delivery, Message, Store},
    worker::{Next, Worker},
};
use serde::{Deserialize, Serialize};

use crate::worker::{
    shop::{Bank, Charge},
    support::{Does, actors, create, does, each, message, says, settle, ticket, worker},
};

/// It waits for its children, and adds up how many there were.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Family {
    #[initial]
    #[on(gather(count) => Gathered, by = GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner | Human)]
    Waiting,
    #[terminal]
    Gathered { count: u32 },
    #[terminal]
    Cancelled { reason: String },
}

/// A machine without a move `cancel`.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Stone {
    #[initial]
    #[on(roll => Rolled, by = Human)]
    Lying,
    #[terminal]
    Rolled,
}

/// `cancel` without a reason.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Lamp {
    #[initial]
    #[on(cancel => Off, by = GraphRunner)]
    On,
    #[terminal]
    Off,
}

/// Gathers its children once all have ended.
fn gathers(calls: &Arc<AtomicUsize>) -> Does<AnyFamily> {
    let (calls, by) = (Arc::clone(calls), Arc::new(actors().graph_runner));
    does(move |family: AnyFamily, task| {
        calls.fetch_add(1, Ordering::SeqCst);
        let by = Arc::clone(&by);
        Box::pin(async move {
            let joined = task.joined().await?;
            Ok(match (family, joined) {
                (AnyFamily::Waiting(family), Some(children)) => {
                    Next::to(family.gather(u32::try_from(children.len())?, &*by))
                }
                _ => Next::Wait,
            })
        })
    })
}

fn family(store: &Store) -> Worker {
    worker(store).handler(gathers(&Arc::default()))
}

fn still<M>() -> Does<M> {
    does(|_, _| Box::pin(async { Ok(Next::Wait) }))
}

async fn child(store: &Store, parent: Id, mut child: impl machine::stored::Durable) -> Id {
    store.batch().create_child(parent, &mut child).write().await.unwrap();
    child.journal().id()
}

async fn cancel(store: &Store, id: Id) {
    store.send(id, &says(r#"{"trigger": "cancel", "reason": "enough"}"#, "stop")).await.unwrap();
}

async fn status_of(store: &Store, id: Id) -> family::Status {
    store.load::<AnyFamily>(id).await.unwrap().status()
}

fn charge() -> Contract {
    Contract::of(&Charge { cents: 3 }, &actors().reasoning_node).unwrap()
}

#[tokio::test]
async fn parent_gathers_once_all_have_ended() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let children = [
            child(&store, parent, Family::new()).await,
            child(&store, parent, Family::new()).await,
        ];
        let calls = Arc::new(AtomicUsize::new(0));
        settle(worker(&store).handler(gathers(&calls))).await;
        assert_eq!(status_of(&store, parent).await, family::Status::Waiting);
        cancel(&store, children[0]).await;
        settle(worker(&store).handler(gathers(&calls))).await;
        assert_eq!(status_of(&store, parent).await, family::Status::Waiting);
        cancel(&store, children[1]).await;
        settle(worker(&store).handler(gathers(&calls))).await;
        let AnyFamily::Gathered(parent) = store.load(parent).await.unwrap() else { panic!() };
        assert_eq!(parent.state().count, 2);
        let known = store.children(parent.id()).await.unwrap();
        let ids: Vec<_> = known.iter().map(|child| child.id).collect();
        assert_eq!(ids, children);
        assert!(known.iter().all(|child| child.has_ended && child.status == "cancelled"));
        // Each of the three began once; the parent was woken by each child.
        assert_eq!(calls.load(Ordering::SeqCst), 5);
    })
    .await;
}

#[tokio::test]
async fn cancel_goes_down_three_generations() {
    each(async |store: Store| {
        let root = create(&store, Family::new()).await;
        let son = child(&store, root, Family::new()).await;
        let grandson = child(&store, son, Family::new()).await;
        let last = child(&store, grandson, Family::new()).await;
        let other = create(&store, Family::new()).await;
        settle(family(&store)).await;
        cancel(&store, root).await;
        settle(family(&store)).await;
        for (id, parent) in [(son, root), (grandson, son), (last, grandson)] {
            let AnyFamily::Cancelled(child) = store.load(id).await.unwrap() else { panic!() };
            assert_eq!(child.state().reason, format!("its parent {parent} has ended"));
        }
        assert_eq!(status_of(&store, other).await, family::Status::Waiting);
        assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    })
    .await;
}

/// A parent that ends in a batch, without any worker; those that come later find the message.
#[tokio::test]
async fn children_of_a_parent_that_nobody_drives() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let son = child(&store, id, Family::new()).await;
        let by = actors().graph_runner;
        let crate::worker::support::AnyTicket::New(parent) = store.load(id).await.unwrap() else {
            panic!()
        };
        let parent = parent.open(&by).cancel("enough".to_owned(), &by);
        store.commit(&mut { parent }).await.unwrap();
        settle(family(&store)).await;
        assert_eq!(status_of(&store, son).await, family::Status::Cancelled);
    })
    .await;
}

/// The message waits for a worker of that kind.
#[tokio::test]
async fn child_that_nobody_drives() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let lamp = child(&store, parent, Lamp::new()).await;
        settle(family(&store)).await;
        cancel(&store, parent).await;
        settle(family(&store)).await;
        let inbox = store.inbox(lamp).await.unwrap();
        assert_eq!(inbox[0].as_ref().unwrap().status, Delivery::Queued);
        settle(worker(&store).handler(still::<AnyLamp>())).await;
        let lamp: AnyLamp = store.load(lamp).await.unwrap();
        assert_eq!(lamp.status(), lamp::Status::Off);
    })
    .await;
}

/// The child continues, and the inbox says why it was not cancelled.
#[tokio::test]
async fn child_without_a_move_cancel() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let stone = child(&store, parent, Stone::new()).await;
        let drives = || family(&store).handler(still::<AnyStone>());
        settle(drives()).await;
        cancel(&store, parent).await;
        settle(drives()).await;
        assert_eq!(store.load::<AnyStone>(stone).await.unwrap().status(), stone::Status::Lying);
        let set_aside = store.set_aside().await.unwrap().messages;
        assert_eq!(set_aside.len(), 1);
        assert_eq!(set_aside[0].to, stone);
        let text = "`cancel` is not a trigger of stone; its triggers: roll";
        assert_eq!(set_aside[0].error.as_deref(), Some(text));
        store.send(stone, &says(r#"{"trigger": "roll"}"#, "roll")).await.unwrap();
        settle(drives()).await;
        assert_eq!(store.load::<AnyStone>(stone).await.unwrap().status(), stone::Status::Rolled);
    })
    .await;
}

/// The end of the parent before it, at the same time, or twice: one message.
#[tokio::test]
async fn child_that_has_ended_is_left_alone() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let son = child(&store, parent, Family::new()).await;
        let other = child(&store, parent, Family::new()).await;
        cancel(&store, son).await;
        settle(family(&store)).await;
        cancel(&store, parent).await;
        settle(family(&store)).await;
        assert_eq!(store.inbox(son).await.unwrap().len(), 1);
        assert_eq!(store.inbox(other).await.unwrap().len(), 1);
        let AnyFamily::Cancelled(son) = store.load(son).await.unwrap() else { panic!() };
        assert_eq!(son.state().reason, "enough");
    })
    .await;
}

/// A child that is created when its parent has ended already.
#[tokio::test]
async fn child_of_an_ended_parent() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        cancel(&store, parent).await;
        settle(family(&store)).await;
        let mut orphan = Family::new();
        let id = orphan.id();
        let created = store.batch().create_child(parent, &mut orphan).write().await;
        settle(family(&store)).await;
        match created {
            // It is cancelled like those before it ..
            Ok(()) => assert_eq!(status_of(&store, id).await, family::Status::Cancelled),
            // .. or was never created.
            Err(_) => assert!(store.load::<AnyFamily>(id).await.is_err()),
        }
    })
    .await;
}

/// A child of a machine that is not there.
#[tokio::test]
async fn child_of_nobody() {
    each(async |store: Store| {
        let mut child = Family::new();
        let nobody = Family::new().id();
        let error = store.batch().create_child(nobody, &mut child).write().await.unwrap_err();
        assert!(matches!(error, machine::store::CommitError::NotFound { id } if id == nobody));
        assert!(store.load::<AnyFamily>(child.id()).await.is_err());
    })
    .await;
}

/// A sender cannot preempt the library's own cancel message.
#[tokio::test]
async fn cancel_cannot_be_forestalled() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let son = child(&store, parent, Family::new()).await;
        for id in [format!("cancel:{parent}"), format!("machine:cancel:{parent}")] {
            let bad = Message::from_json("{}", &crate::worker::support::ann()).unwrap();
            let Ok(bad) = bad.with_correlation(id) else { continue };
            store.send(son, &bad).await.unwrap();
        }
        settle(family(&store)).await;
        cancel(&store, parent).await;
        settle(family(&store)).await;
        assert_eq!(status_of(&store, son).await, family::Status::Cancelled);
    })
    .await;
}

/// An action and its question: neither continues without the machine that wanted it.
#[tokio::test]
async fn execution_and_its_gate() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let (gate, planned) = charge().ask::<Charge>(None, &actors().ecs_node).unwrap();
        let (gate_id, id) = (gate.id(), planned.id());
        let (mut gate, mut planned) = (gate, planned);
        let batch = store.batch().create_child(parent, gate.machine());
        batch.create_child(parent, planned.machine()).write().await.unwrap();
        let bank = Bank::default();
        let drives = || family(&store).tool::<Charge>(bank.clone());
        settle(drives()).await;
        cancel(&store, parent).await;
        settle(drives()).await;
        for id in [gate_id, id] {
            let execution: AnyExecution = store.load(id).await.unwrap();
            assert_eq!(execution.status(), execution::Status::Cancelled);
        }
        assert_eq!(bank.0.load(Ordering::SeqCst), 0);
        assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    })
    .await;
}

/// If only the action is a child, its question ends with it.
#[tokio::test]
async fn execution_behind_a_gate_of_somebody_else() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let (mut gate, mut planned) = charge().ask::<Charge>(None, &actors().ecs_node).unwrap();
        let batch = store.batch().create(gate.machine());
        batch.create_child(parent, planned.machine()).write().await.unwrap();
        let bank = Bank::default();
        let drives = || family(&store).tool::<Charge>(bank.clone());
        settle(drives()).await;
        cancel(&store, parent).await;
        settle(drives()).await;
        for id in [gate.id(), planned.id()] {
            let ended: AnyExecution = store.load(id).await.unwrap();
            let AnyExecution::Cancelled(ended) = ended else { panic!("{ended:?}") };
            let why = "a person moved the family to `cancelled` by `cancel` before the call began";
            assert_eq!(ended.state().reason, why);
        }
        assert!(
            machine_tests::approve(&store, gate, &crate::worker::support::ann()).await.is_err()
        );
        settle(drives()).await;
        assert_eq!(bank.0.load(Ordering::SeqCst), 0);
    })
    .await;
}

/// The result of an execution reaches its parent.
#[tokio::test]
async fn execution_ends_and_wakes_its_parent() {
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let planned = Planned::<Charge>::new(charge()).unwrap();
        child(&store, parent, planned.into_execution()).await;
        settle(family(&store).tool::<Charge>(Bank::default())).await;
        assert_eq!(status_of(&store, parent).await, family::Status::Gathered);
    })
    .await;
}

/// An execution in doubt is not cancelled: it may have taken effect.
#[tokio::test]
async fn execution_in_doubt_is_not_cancelled() {
    use machine::contract::{NotDone, service_fn};
    each(async |store: Store| {
        let parent = create(&store, Family::new()).await;
        let planned = Planned::<Charge>::new(charge()).unwrap();
        let id = child(&store, parent, planned.into_execution()).await;
        let drives = || {
            family(&store).tool::<Charge>(service_fn::<Charge, _>(|_| {
                Box::pin(async { Err(NotDone::unknown("no answer")) })
            }))
        };
        settle(drives()).await;
        cancel(&store, parent).await;
        settle(drives()).await;
        let execution: AnyExecution = store.load(id).await.unwrap();
        assert_eq!(execution.status(), execution::Status::Waiting);
        let inbox = store.inbox(id).await.unwrap();
        let cancel = inbox[0].as_ref().unwrap();
        // Visible, with the reason.
        assert_ne!(cancel.status, Delivery::Handled);
        assert!(cancel.error.is_some());
        drop(message(&store, id, &cancel.correlation).await);
    })
    .await;
}
