//! What a machine shows of the calls that it made by entering its state.

use machine::{
    contract::CallStage,
    observe::{ConcernReason, Detail},
    view::StageCount,
};
use machine_tests::invoked::{
    AnyPurchase, applied, asked, begun, calls, doubtful, placed, purchase::Event, reading, send,
};

use super::prelude::*;

async fn detail(store: &Store, id: Id) -> View<Detail<Human>> {
    Observer::new(store).detail(id).await.unwrap()
}

async fn label(store: &Store, id: Id) -> String {
    detail(store, id).await.calls.as_ref().map(|calls| calls.label.clone()).unwrap_or_default()
}

/// The machines that a query selects.
async fn found(store: &Store, query: Query) -> Vec<Id> {
    machine_tests::stores::lines(store, &query).await.into_iter().map(|line| line.id).collect()
}

#[tokio::test]
async fn the_state_says_what_its_call_does() {
    let place = still().await;
    let store = &place.store;
    let (pending, _) = placed(store, 1).await;
    let (asking, _) = asked(store, 2).await;
    let (running, call) = placed(store, 3).await;
    let permit = begun(store, call).await;
    let (doubt, call) = placed(store, 4).await;
    doubtful(store, call).await;
    let (ended, call) = placed(store, 5).await;
    applied(store, begun(store, call).await).await;

    let stages = [
        (pending, "PAYING (not begun)", CallStage::Pending),
        (asking, "ASKING (asked)", CallStage::Asked),
        (running, "PAYING (running)", CallStage::Running),
        (doubt, "PAYING (in doubt)", CallStage::InDoubt),
        (ended, "PAYING (outcome not taken)", CallStage::Ended),
    ];
    let observer = Observer::new(store);
    let page = observer.list::<Human>(&Query::new().machine("purchase")).await.unwrap();
    assert_eq!(page.items.len(), stages.len());
    for (item, (id, label, stage)) in page.items.into_iter().zip(stages) {
        let listed = item.unwrap();
        let of_state = listed.calls.clone().unwrap();
        assert_eq!((listed.id, &*of_state.label, &*of_state.name), (id, label, "payment"));
        assert_eq!(of_state.tool.as_deref(), Some("bank.charge"));
        let [StageCount { stage: of_list, count: 1, .. }] = *of_state.stages else {
            panic!("{of_state:?}")
        };
        assert_eq!(of_list, stage);

        let shown = detail(store, id).await;
        assert_eq!(shown.calls.as_ref(), Some(&of_state));
        assert_eq!(shown.call_list.len(), 1, "{:?}", shown.call_list);
        assert_eq!(shown.call_list[0].stage, stage);
        assert!(shown.call_list[0].is_current);
        let begun = !matches!(stage, CallStage::Pending | CallStage::Asked);
        assert_eq!(shown.call_list[0].is_waited_for, begun, "{label}");
        assert_eq!(shown.call_list[0].gate.is_some(), stage == CallStage::Asked);
        assert_eq!(shown.call_list[0].answer_by.is_some(), stage == CallStage::Asked);
        let timeline = observer.timeline::<Human>(id).await.unwrap();
        assert_eq!(timeline.calls.as_ref(), Some(&of_state));

        let wanted = if stage == CallStage::Ended { vec![] } else { vec![id] };
        assert_eq!(found(store, Query::new().calls(stage)).await, wanted, "{label}");
        let of_kind = Query::new().machine("purchase").status("paying").calls(stage);
        let wanted = if id == asking { vec![] } else { wanted };
        assert_eq!(found(store, of_kind).await, wanted, "{label}");
    }
    drop(permit);
}

#[tokio::test]
async fn a_set_is_counted() {
    let place = still().await;
    let store = &place.store;
    let id = reading(store, 4).await;
    let reads = calls(store, id).await;
    let running = begun(store, reads[1]).await;
    applied(store, begun(store, reads[2]).await).await;
    assert_eq!(label(store, id).await, "READING (2 not begun, 1 running, 1 outcome not taken)");
    assert_eq!(found(store, Query::new().calls(CallStage::Running)).await, [id]);
    let shown = detail(store, id).await;
    let positions: Vec<_> = shown.call_list.iter().map(|call| call.position).collect();
    assert_eq!(positions, [0, 1, 2, 3]);
    let entered = shown.machine.entered_at;
    let waits: Vec<_> = shown.call_list.iter().map(|call| call.wait_until).collect();
    assert_eq!(waits[2], None, "it has ended");
    assert!(waits[0] == Some(entered + 10_000), "{waits:?}");
    drop(running);
}

/// Another machine wants the same: its call waits for the key.
#[tokio::test]
async fn a_call_names_the_one_that_has_its_key() {
    let place = still().await;
    let store = &place.store;
    let (_, first) = placed(store, 7).await;
    let (second, _) = placed(store, 7).await;
    assert_eq!(detail(store, second).await.call_list[0].behind, None);
    doubtful(store, first).await;
    assert_eq!(detail(store, second).await.call_list[0].behind, Some(first));
}

#[tokio::test]
async fn what_waits_for_a_call_names_it() {
    let clock = Hand::at(machine::clock::now());
    let place = Place::with(OpenOptions::new().clock(clock.clone())).await;
    let store = &place.store;
    let (id, call) = placed(store, 1).await;
    send(store, id, &Event::Cancel, ann()).await;
    let waits = async || {
        let shown = detail(store, id).await;
        let found = shown.messages.iter().find(|it| it.trigger.as_deref() == Some("cancel"));
        (found.unwrap().waits_for.clone(), shown.late.clone())
    };
    // It would be withdrawn.
    assert_eq!(waits().await, (None, None));
    doubtful(store, call).await;
    assert_eq!(waits().await, (Some("it waits for `payment` (in doubt)".to_owned()), None));
    // The table says that this does not wait.
    send(store, id, &Event::Pause, ann()).await;
    let shown = detail(store, id).await;
    let pause = shown.messages.iter().find(|it| it.trigger.as_deref() == Some("pause"));
    assert_eq!(pause.unwrap().waits_for, None);

    clock.pass(Duration::from_secs(61));
    let late = "a deadline has passed, and waits for `payment` (in doubt)";
    assert_eq!(waits().await.1.as_deref(), Some(late));
    let attention = Observer::new(store).attention::<Human>(&Query::new()).await.unwrap();
    let concern = attention.concerns.iter().find(|one| one.id == Some(id)).unwrap();
    assert_eq!(concern.reason, ConcernReason::Overdue);
    assert_eq!(concern.cause.as_deref(), Some(late));
    assert!(concern.summary.contains("PAYING (in doubt)"), "{}", concern.summary);
}

/// A move that detaches leaves the call behind; the machine still says what became of it.
#[tokio::test]
async fn a_call_that_was_left_is_shown() {
    let place = still().await;
    let store = &place.store;
    let (id, call) = placed(store, 1).await;
    let running = begun(store, call).await;
    let AnyPurchase::Paying(paying) = store.load(id).await.unwrap() else { panic!("it pays") };
    store.commit(&mut paying.pause(ann())).await.unwrap();
    let left = async || {
        let shown = detail(store, id).await;
        assert_eq!(shown.calls, None);
        let [call] = &*shown.call_list else { panic!("{:?}", shown.call_list) };
        assert!(!call.is_current && call.is_waited_for);
        let outcome = shown.messages.iter().find_map(|message| message.waits_for.clone());
        (call.stage, outcome)
    };
    assert_eq!(left().await, (CallStage::Running, None));
    assert_eq!(found(store, Query::new().calls(CallStage::Running)).await, []);
    applied(store, running).await;
    let kept = "`payment` took effect after its state was left, and its receipt is kept until the state is entered again";
    assert_eq!(left().await, (CallStage::Ended, Some(kept.to_owned())));

    // The next entry takes it over.
    let AnyPurchase::Paused(paused) = store.load(id).await.unwrap() else { panic!("it waits") };
    store.commit(&mut paused.resume(ann())).await.unwrap();
    assert_eq!(label(store, id).await, "PAYING (outcome not taken)");
}

/// Nothing was called, because the action was done before.
#[tokio::test]
async fn an_outcome_without_a_call_is_listed() {
    let place = still().await;
    let store = &place.store;
    let (_, call) = placed(store, 9).await;
    applied(store, begun(store, call).await).await;
    let mut again = machine_tests::invoked::Purchase::new()
        .place(machine_tests::invoked::Charge { cents: 9 }, ann());
    store.create(&mut again).await.unwrap();
    let shown = detail(store, again.id()).await;
    assert_eq!(shown.calls.as_ref().unwrap().label, "PAYING");
    let [call] = &*shown.call_list else { panic!("{:?}", shown.call_list) };
    assert_eq!((call.execution, call.stage), (None, CallStage::Ended));
    assert_eq!(call.error.as_deref(), Some("already_done"));
}

/// The calls of a machine without a session are those of a session with its id.
#[tokio::test]
async fn a_prompt_has_a_line_for_each_call() {
    let place = still().await;
    let store = &place.store;
    let (id, _) = asked(store, 2).await;
    let session = id.to_string();
    let consequences = Observer::new(store).consequences(&session).await.unwrap();
    let prompt = consequences.prompt().to_string();
    assert_eq!(prompt_lines(&prompt), ["[DEFERRED] bank.charge"]);
}
