//! Machines that nothing can move: the handler waits, and there is nothing to wait for.

use std::collections::BTreeSet;

use machine::{
    observe::{ConcernReason, NextStep, Observer, WaitingFor},
    operate::Operator,
    store::Cause,
    testing::{TestClock, TestEnvironment},
    view::Internal,
};

use crate::worker::prelude::*;

const A_MINUTE: Duration = Duration::from_mins(1);

/// What the program reads.
const TEXT: &str = "nothing can move the machine while its handler waits: return a transition, or make the state \
                    `#[stable]` (it has no open call or child, no deadline, no message, and no move for a person)";

/// What operators read.
const REPORT: &str = "its handler waits, but it has no open call or child, no deadline, no message, and no move \
                      for a person; report this to its developers, and requeue it when they have changed its \
                      program";

fn requeues(id: Id) -> NextStep {
    NextStep::Requeue { id, messages: Vec::new() }
}

async fn stuck(store: &Store) -> BTreeSet<Id> {
    let attention = Observer::new(store).attention::<Internal>(&Query::new()).await.unwrap();
    let stuck = attention.concerns.iter().filter(|it| it.reason == ConcernReason::Stuck);
    let checked = stuck.map(|it| {
        let id = it.id.unwrap();
        assert_eq!((it.cause.as_deref(), it.next.first()), (Some(REPORT), Some(&requeues(id))));
        id
    });
    checked.collect()
}

/// What its page says that it waits for.
async fn waits_for(store: &Store, id: Id) -> (WaitingFor, String) {
    let detail = Observer::new(store).detail::<Internal>(id).await.unwrap();
    let waits = detail.waits_for.clone().unwrap();
    (waits.cause, waits.text)
}

/// Of each state, something else can move it, apart from the first and the last.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Errand {
    #[initial]
    #[on(ask => Asked, by = GraphRunner)]
    #[on(order => Ordered, by = GraphRunner)]
    #[on(rest => Resting, by = GraphRunner)]
    #[on(open => Open, by = GraphRunner)]
    Placed,
    #[on(answer => Done, by = Customer)]
    Asked,
    #[on(expire => Done, by = GraphRunner, after = Duration::from_hours(1))]
    Ordered,
    #[stable]
    #[on(wake => Done, by = GraphRunner)]
    Resting,
    /// Anyone may close it, and so it is for nobody.
    #[on(close => Done)]
    Open,
    #[terminal]
    Done,
}

#[test]
fn only_what_nothing_can_move_is_stuck() {
    timed(async |store, hand| {
        let runner = graph_runner();
        let placed = create(&store, Errand::new()).await;
        let open = create(&store, Errand::new().open(runner)).await;
        let told = create(&store, Errand::new().open(runner)).await;
        store.send(told, &tells(r#"{"trigger": "wake"}"#, "1")).await.unwrap();
        create(&store, Errand::new().ask(runner)).await;
        create(&store, Errand::new().order(runner)).await;
        create(&store, Errand::new().rest(runner)).await;
        settle(worker(&store).handler(rests::<AnyErrand>())).await;
        hand.pass(A_MINUTE);
        assert_eq!(stuck(&store).await, BTreeSet::from([placed, open]));
    });
}

#[test]
fn it_needs_attention_after_a_minute_and_until_there_is_news() {
    timed(async |store, hand| {
        let id = create(&store, Lamp::new()).await;
        let rest = async || settle(worker(&store).handler(rests::<AnyLamp>())).await;
        rest().await;
        // Neither a worker nor its program makes the next move.
        let nothing = (WaitingFor::Nothing, format!("nothing: {REPORT}"));
        assert_eq!(waits_for(&store, id).await, nothing);
        let running = worker(&store).handler(rests::<AnyLamp>()).start();
        assert_eq!(waits_for(&store, id).await, nothing);
        running.stop().await.unwrap();
        hand.pass(Duration::from_millis(59_999));
        assert_eq!(stuck(&store).await, BTreeSet::new());
        hand.pass(Duration::from_millis(1));
        assert_eq!(stuck(&store).await, BTreeSet::from([id]));
        // A later worker does not look at it for that.
        rest().await;
        assert_eq!(stuck(&store).await, BTreeSet::from([id]));
        store.send(id, &tells(r#"{"trigger": "cancel"}"#, "1")).await.unwrap();
        assert_eq!(stuck(&store).await, BTreeSet::new());
        assert_eq!(waits_for(&store, id).await.0, WaitingFor::NoWorker);
        rest().await;
        is(&store, id, "off").await;
        hand.pass(A_MINUTE);
        assert_eq!(stuck(&store).await, BTreeSet::new());
    });
}

/// A repaired handler is not called before a person requeues the machine.
#[test]
fn requeued_machine_is_moved_by_a_repaired_handler() {
    timed(async |store, hand| {
        let id = create(&store, Lamp::new()).await;
        let actors = actors();
        let operator = Operator::new(&store, &actors, ann(), "office");
        let requeue = async || operator.requeue(&[id], &[]).await;
        let refusal = async || requeue().await.unwrap_err().to_string();
        let broken = async || settle(worker(&store).handler(rests::<AnyLamp>())).await;
        let repaired = async || {
            let turns_off = moves(|lamp, _| match lamp {
                AnyLamp::On(lamp) => Next::to(lamp.cancel(graph_runner())),
                AnyLamp::Off(_) => Next::Wait,
            });
            settle(worker(&store).handler(turns_off)).await;
        };
        let nothing = format!(
            "nothing of {id} was set aside, and it is not stuck, so there is nothing to requeue"
        );
        assert_eq!(refusal().await, nothing);
        broken().await;
        repaired().await;
        is(&store, id, "on").await;

        // With the same handler, it is stuck again.
        assert_eq!(Observer::new(&store).next(id).await.unwrap(), [requeues(id)]);
        requeue().await.unwrap();
        assert_eq!(Observer::new(&store).next(id).await.unwrap(), []);
        assert_eq!(refusal().await, nothing);
        broken().await;
        is(&store, id, "on").await;
        hand.pass(A_MINUTE);
        assert_eq!(stuck(&store).await, BTreeSet::from([id]));

        requeue().await.unwrap();
        assert_eq!(stuck(&store).await, BTreeSet::new());
        repaired().await;
        is(&store, id, "off").await;
        assert!(refusal().await.contains("which is terminal"));

        let lines = store.operations(9, None).await.unwrap().items.into_iter().map(Result::unwrap);
        let done = lines.filter(|line| line.outcome.as_deref() == Some("done"));
        let done: Vec<_> = done.map(|line| (line.operation, line.by, line.machines)).collect();
        let line = ("requeue".to_owned(), "ann".to_owned(), vec![id]);
        assert_eq!(done, [line.clone(), line]);
    });
}

/// A machine that waits for a child is not stuck before the child has ended.
#[test]
fn open_child_can_move_it() {
    timed(async |store, hand| {
        let (id, mut child) = (create(&store, Lamp::new()).await, Lamp::new());
        store.batch().create_child(id, &mut child).write().await.unwrap();
        let rest = async || settle(worker(&store).handler(rests::<AnyLamp>())).await;
        rest().await;
        hand.pass(A_MINUTE);
        assert_eq!(stuck(&store).await, BTreeSet::from([child.id()]));
        assert_eq!(waits_for(&store, id).await.0, WaitingFor::Child);
        store.commit(&mut child.cancel(graph_runner())).await.unwrap();
        rest().await;
        hand.pass(A_MINUTE);
        assert_eq!(stuck(&store).await, BTreeSet::from([id]));
    });
}

#[tokio::test(start_paused = true)]
async fn program_is_told_once() {
    let store = OpenOptions::new().clock(TestClock::start()).memory();
    let told = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&told);
    let worker = worker(&store).handler(rests::<AnyLamp>()).on_error(move |failed| {
        assert_eq!((failed.kind, failed.state), ("lamp", Some("on")));
        assert_eq!((failed.cause, failed.error), (Cause::Stuck, TEXT));
        assert!(!failed.set_aside);
        all.lock().unwrap().push(failed.id);
    });
    let running = worker.start();
    let first = create(&store, Lamp::new()).await;
    tokio::time::sleep(5 * A_MINUTE).await;
    assert_eq!(*told.lock().unwrap(), [first]);
    let second = create(&store, Lamp::new()).await;
    tokio::time::sleep(5 * A_MINUTE).await;
    running.stop().await.unwrap();
    assert_eq!(*told.lock().unwrap(), [first, second]);
}

#[tokio::test(start_paused = true)]
async fn test_environment_returns_it() {
    let kit = TestEnvironment::new(|worker| worker.handler(rests::<AnyLamp>()));
    assert_eq!(kit.run_until_idle().await, []);
    let id = kit.create(Lamp::new()).await;
    assert_eq!(kit.run_until_idle().await, [id]);
    assert!(kit.failures().is_empty());
    kit.advance(A_MINUTE).await;
    assert_eq!(kit.run_until_idle().await, [id]);
    let failures = kit.failures();
    assert!(failures.len() == 1 && failures[0].ends_with(TEXT), "{failures:?}");
    kit.send(id, &lamp::Event::Cancel, graph_runner()).await;
    assert_eq!(kit.run_until_idle().await, []);
}
