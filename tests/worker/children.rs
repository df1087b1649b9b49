//! Children: a parent that ends takes them along. That it is woken when they have ended is in the
//! simulation of workers.

use machine::{effects::EffectError, store::CommitError, stored::Durable};

use crate::worker::prelude::*;

/// A parent, and a child.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Family {
    #[initial]
    #[on(cancel(reason) => Cancelled, by = GraphRunner | Human)]
    Waiting,
    #[terminal]
    Cancelled { reason: String },
}

fn family(store: &Store) -> Worker {
    worker(store).handler(rests::<AnyFamily>())
}

async fn child(store: &Store, parent: Id, mut child: impl Durable) -> Id {
    store.batch().create_child(parent, &mut child).write().await.unwrap();
    child.journal().id()
}

async fn cancel(store: &Store, id: Id) {
    store.send(id, &says(r#"{"trigger": "cancel", "reason": "enough"}"#, "stop")).await.unwrap();
}

/// Works, cancels the machine, and works.
async fn ends(store: &Store, id: Id, drives: impl Fn() -> Worker) {
    settle(drives()).await;
    cancel(store, id).await;
    settle(drives()).await;
}

#[test]
fn cancel_goes_down_three_generations() {
    each(async |store| {
        let mut line = vec![create(&store, Family::new()).await];
        for generation in 0..3 {
            line.push(child(&store, line[generation], Family::new()).await);
        }
        let other = create(&store, Family::new()).await;
        ends(&store, line[0], || family(&store)).await;
        for pair in line.windows(2) {
            let AnyFamily::Cancelled(child) = store.load(pair[1]).await.unwrap() else { panic!() };
            assert_eq!(child.state().reason, format!("its parent {} has ended", pair[0]));
        }
        is(&store, other, "waiting").await;
    });
}

/// The message waits for a worker of that kind.
#[test]
fn undriven_child() {
    each(async |store| {
        let parent = create(&store, Family::new()).await;
        let lamp = child(&store, parent, Lamp::new()).await;
        ends(&store, parent, || family(&store)).await;
        assert_eq!(inbox(&store, lamp).await[0].status, Delivery::Queued);
        settle(worker(&store).handler(rests::<AnyLamp>())).await;
        is(&store, lamp, "off").await;
    });
}

/// A child that is created when its parent has ended already.
#[test]
fn child_of_an_ended_parent() {
    each(async |store| {
        let parent = create(&store, Family::new()).await;
        cancel(&store, parent).await;
        settle(family(&store)).await;
        let mut orphan = Family::new();
        let created = store.batch().create_child(parent, &mut orphan).write().await;
        settle(family(&store)).await;
        match created {
            // It is cancelled like those before it ..
            Ok(()) => is(&store, orphan.id(), "cancelled").await,
            // .. or was never created.
            Err(_) => assert!(store.load::<AnyFamily>(orphan.id()).await.is_err()),
        }
    });
}

/// A child of a machine that is not there.
#[test]
fn orphan() {
    each(async |store| {
        let (mut child, missing) = (Family::new(), Family::new().id());
        let refused = store.batch().create_child(missing, &mut child).write().await;
        assert_err!(refused, EffectError::Commit(CommitError::NotFound { id }) if *id == missing);
        assert!(store.load::<AnyFamily>(child.id()).await.is_err());
    });
}

/// A sender cannot preempt the library's own cancel message.
#[test]
fn cancel_cannot_be_forestalled() {
    each(async |store| {
        let parent = create(&store, Family::new()).await;
        let son = child(&store, parent, Family::new()).await;
        for id in [format!("cancel:{parent}"), format!("machine:cancel:{parent}")] {
            let bad = Message::from_json("{}", ann()).unwrap();
            let Ok(bad) = bad.with_correlation(id) else { continue };
            store.send(son, &bad).await.unwrap();
        }
        ends(&store, parent, || family(&store)).await;
        is(&store, son, "cancelled").await;
    });
}

/// A state makes calls with `#[invoke]`: an execution is no child, and no machine that a handler
/// creates.
#[test]
fn a_call_by_hand_is_refused() {
    each(async |store| {
        let parent = create(&store, Family::new()).await;
        let mut call = Execution::new(charge(3));
        let refused = store.batch().create_child(parent, &mut call).write().await;
        assert_err!(refused, EffectError::CallByHand { id } if *id == call.id());
        for as_child in [true, false] {
            let calls = moves(move |_: AnyFamily, task| {
                let call = Execution::new(charge(3));
                if as_child {
                    task.child(call);
                } else {
                    task.create(call);
                }
                Next::Wait
            });
            settle(worker(&store).handler(calls)).await;
            let [(aside, error)] = &store.set_aside().await.unwrap().machines[..] else { panic!() };
            let error = error.as_deref().unwrap();
            assert!(
                *aside == parent && error.contains("a state makes calls with `#[invoke]`"),
                "{error}"
            );
            store.requeue(parent, &[]).await.unwrap();
        }
        assert_eq!(store.children(parent).await.unwrap(), []);
        let executions = store.load_all::<AnyExecution>(&Query::new()).await.unwrap();
        assert_eq!(executions.items.len(), 0);
    });
}
