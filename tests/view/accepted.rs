//! Calls that a service has accepted and has not reported about (EX-8), in the views of each audience.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use machine::{
    clock::{Clock, Millis},
    contract::{AnyExecution, Report},
    store::{OpenOptions, Query, Store},
    view::{
        Attention, ConsequenceView, Diagnostic, ExecutionSnapshot, Human, Internal, Label,
        Language, NextStep, Observer, Reason,
    },
};
use machine_tests::{
    actors::graph_runner,
    cluster::{Deploy, LIMIT, REFERENCE, accepted, live},
};

/// A clock that the test moves on.
#[derive(Debug, Clone)]
struct Hand(Arc<AtomicI64>);

impl Clock for Hand {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}

/// People and prompts see that it waits for its service; the reference is for operators.
#[tokio::test]
async fn the_reference_is_for_operators() {
    let store = Store::memory();
    let call = accepted(&store, 17).await;
    let observer = Observer::new(&store);
    let human: ExecutionSnapshot<Human> = observer.execution(call.id).await.unwrap();
    assert_eq!(human.label, Label::Waiting);
    assert!(human.waits_for_service && !human.is_resumable && human.is_stable);
    assert_eq!((human.question.as_deref(), human.error_message.as_deref()), (None, None));
    assert!(human.answer_by.is_some_and(|at| at > store.now()));
    let diagnostic: ExecutionSnapshot<Diagnostic> = observer.execution(call.id).await.unwrap();
    for json in [
        serde_json::to_string(&human).unwrap(),
        serde_json::to_string(&diagnostic).unwrap(),
        serde_json::to_string(&observer.snapshot::<Human>(call.id).await.unwrap()).unwrap(),
    ] {
        assert!(!json.contains(REFERENCE), "{json}");
    }
    let internal: ExecutionSnapshot<Internal> = observer.execution(call.id).await.unwrap();
    assert_eq!(internal.reference.as_deref(), Some(REFERENCE));

    let execution: AnyExecution = store.load(call.id).await.unwrap();
    assert_eq!(
        ConsequenceView::of(&execution).to_string(),
        "[WAITING] cluster.deploy → version 17: its service has accepted it, and has not reported yet"
    );
    assert_eq!(
        ConsequenceView::in_language(&execution, Language::Chinese).to_string(),
        "[WAITING] cluster.deploy → version 17: 服务方已受理，尚未报告结果"
    );
    assert_eq!(observer.next(call.id).await.unwrap(), []);
}

/// It needs no person while it waits, and one once it is in doubt.
#[tokio::test]
async fn attention() {
    let store = Store::memory();
    let call = accepted(&store, 17).await;
    let observer = Observer::new(&store);
    let all = async || -> Attention<Internal> { observer.attention(&Query::new()).await.unwrap() };
    assert_eq!(all().await.concerns, []);
    drop(store.fence(call.id, "the cluster burnt", graph_runner()).await.unwrap());
    let concerns = all().await.concerns;
    assert_eq!(concerns.len(), 1);
    assert_eq!(concerns[0].reason, Reason::InDoubt);
    assert_eq!(concerns[0].reference.as_deref(), Some(REFERENCE));
    assert_eq!(concerns[0].next, [NextStep::Confirm { id: call.id }]);
    let taken = store.report::<Deploy>(call.id, Report::Applied(live(17)), &call.token).await;
    assert!(taken.is_ok());
    assert_eq!(all().await.concerns, []);
}

/// The limit has passed, and that was not noticed yet.
#[tokio::test]
async fn an_overdue_report() {
    let clock = Hand(Arc::new(AtomicI64::new(machine::clock::now())));
    let store = OpenOptions::new().clock(clock.clone()).memory();
    let call = accepted(&store, 17).await;
    clock.0.fetch_add(i64::try_from(LIMIT.as_millis()).unwrap() + 1, Ordering::SeqCst);
    let observer = Observer::new(&store);
    let attention: Attention<Human> = observer.attention(&Query::new()).await.unwrap();
    let [concern] = &attention.concerns[..] else { panic!("{attention:?}") };
    assert_eq!(concern.reason, Reason::Overdue);
    assert_eq!(concern.cause.as_deref(), Some("its service has not reported in time"));
    assert_eq!(concern.next, [NextStep::Fence { id: call.id }]);
}
