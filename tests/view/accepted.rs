//! Calls that a service has accepted and has not reported about (EX-8), in the views of each
//! audience.

use machine::contract::Report;
use machine_tests::cluster::{Deploy, LIMIT, REFERENCE, accepted, live};

use crate::view::prelude::*;

/// People and prompts see that it waits for its service; the reference is for operators.
#[tokio::test]
async fn the_reference_is_for_operators() {
    let store = Store::memory();
    let call = accepted(&store, 17).await;
    let observer = Observer::new(&store);
    let human: View<ExecutionSnapshot<Human>> = observer.execution(call.id).await.unwrap();
    assert_eq!(human.label, Label::Waiting);
    assert!(human.waits_for_service && !human.is_resumable && human.is_stable);
    assert_eq!((human.question.as_deref(), human.error_message.as_deref()), (None, None));
    assert!(human.answer_by.is_some_and(|at| at > store.now()));
    let diagnostic: View<ExecutionSnapshot<Diagnostic>> =
        observer.execution(call.id).await.unwrap();
    let machine = observer.snapshot::<Human>(call.id).await.unwrap();
    for json in [json!(human), json!(diagnostic), json!(machine)] {
        assert!(!json.to_string().contains(REFERENCE), "{json}");
    }
    let internal: View<ExecutionSnapshot<Internal>> = observer.execution(call.id).await.unwrap();
    assert_eq!(internal.reference.as_deref(), Some(REFERENCE));

    let execution = load(&store, call.id).await;
    for (language, text) in [
        (Language::English, "its service has accepted it but has not reported yet"),
        (Language::Chinese, "服务方已受理，尚未报告结果"),
    ] {
        let line = ConsequenceView::in_language(&execution, language).to_string();
        assert_eq!(line, format!("[WAITING] cluster.deploy → version 17: {text}"));
    }
    assert_eq!(observer.next(call.id).await.unwrap(), []);
}

/// It needs no person while it waits, and one once it is in doubt, or once the limit has passed
/// unnoticed.
#[tokio::test]
async fn attention() {
    let hand = Hand::default();
    let store = OpenOptions::new().clock(hand.clone()).memory();
    let call = accepted(&store, 17).await;
    let all = async || {
        let found = Observer::new(&store).attention::<Internal>(&Query::new()).await.unwrap();
        let seen = |it: &machine::observe::Concern<Internal>| {
            (it.reason, it.cause.clone(), it.reference.clone(), it.next.clone())
        };
        found.concerns.iter().map(seen).collect::<Vec<_>>()
    };
    assert_eq!(all().await, []);
    hand.pass(LIMIT + Duration::from_millis(1));
    let cause = Some("its service has not reported in time".to_owned());
    let reference = Some(REFERENCE.to_owned());
    let next = vec![NextStep::Fence { id: call.id }];
    assert_eq!(all().await, [(ConcernReason::Overdue, cause, reference.clone(), next)]);
    drop(store.fence(call.id, "the cluster burnt", graph_runner()).await.unwrap());
    // Its call may take effect until it has settled.
    for (passed, answers) in [(0, vec![true]), (60, vec![true, false])] {
        hand.pass(Duration::from_secs(passed));
        let steps = answers.into_iter();
        let steps = steps.map(|applied| NextStep::Confirm { id: call.id, applied, receipt: None });
        let [(reason, _, found, next)] = &all().await[..] else { panic!("it is in doubt") };
        assert_eq!((*reason, found), (ConcernReason::InDoubt, &reference));
        assert_eq!(*next, steps.collect::<Vec<_>>());
    }
    let taken = store.report::<Deploy>(call.id, Report::Applied(live(17)), &call.token).await;
    assert!(taken.is_ok());
    assert_eq!(all().await, []);
}
