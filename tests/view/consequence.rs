//! The fields that a reasoner sees, and those that it does not see (OB-6, EX-13).

use machine_tests::samples::contradicted;

use crate::view::prelude::*;

/// Exactly the fields of OB-6: no key, no timeout, no actor.
#[test]
fn hidden_data_is_not_shown() {
    let execution = AnyExecution::from(pending_mail("bob"));
    let json = json!(ConsequenceView::of(&execution));
    let names: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "action_summary",
        "action_type",
        "consequence_label",
        "error_message",
        "execution_id",
        "has_side_effects",
        "human_confirmed",
        "is_still_pending",
        "result",
        "total_duration_ms",
        "was_suspended",
    ];
    assert!(names.len() == expected.len() && expected.iter().all(|name| names.contains(name)));
    assert_eq!(json["execution_id"], execution.id().to_string());
    assert_eq!(json["action_type"], "tool_call");
    let text = json.to_string();
    let key = execution.context().idempotency_key().unwrap().as_str();
    assert!(!text.contains(key) && !text.contains("reasoning"), "{text}");
    assert!(!text.contains("test"), "the name of an actor is for diagnosis: {text}");
}

/// The refusal of a tool is data, for people and for models, where it is more than its text.
#[test]
fn a_refusal_is_shown_as_the_tool_gave_it() {
    let busy = json!({ "code": "busy", "message": "try later" });
    for (refusal, shown) in [
        (None, None),
        (Some(json!("try later")), None),
        (Some(json!({ "message": "try later" })), None),
        // A unit struct.
        (Some(json!([])), None),
        (Some(json!("Busy")), Some(json!("Busy"))),
        (Some(busy.clone()), Some(busy)),
    ] {
        let failed = reading().fail("try later".to_owned(), refusal, tool_node());
        let failed = AnyExecution::from(failed);
        let (view, snapshot) = (
            ConsequenceView::of(&failed),
            ExecutionSnapshot::<Human>::of(&failed, 0, Language::English),
        );
        assert_eq!((&view.refusal, &snapshot.refusal), (&shown, &shown));
        assert_eq!(json!(view).get("refusal"), shown.as_ref());
        assert_eq!(json!(snapshot).get("refusal"), shown.as_ref());
        assert!(view.to_string().ends_with(": try later"), "{view}");
    }
}

/// The duration runs from the creation to the end, and there is none before.
#[test]
fn the_duration_is_that_of_the_journal() {
    let ended = reading().succeed("x".to_owned(), tool_node());
    for (mut claim, took) in
        [(forge::claim(&asked("Deploy?")), None), (forge::claim(&ended), Some(4_000))]
    {
        let start = claim.journal[0].at;
        claim.journal[1].at = start + 250;
        claim.journal[2].at = start + 4_000;
        let view = ConsequenceView::of(&forge::cross_execution(claim).unwrap());
        assert_eq!((view.is_still_pending, view.total_duration_ms), (took.is_none(), took));
    }
}

/// OB-6: a receipt that arrives after the end does not move it.
#[tokio::test]
async fn a_late_receipt_does_not_change_the_duration() {
    let store = Store::memory();
    let id = contradicted(&store, "bob").await;
    let ended = load(&store, id).await;
    let past = ended.journal().summary();
    assert!(past.updated_at >= past.entered_at);
    let took = u64::try_from(past.entered_at - past.created_at).unwrap();
    assert_eq!(ConsequenceView::of(&ended).total_duration_ms, Some(took));
}

/// A loaded execution has only the summary of its past, and its view is the same as before; also
/// when more happens after it was loaded.
#[tokio::test]
async fn a_loaded_execution_has_the_same_view() {
    let store = Store::memory();
    let mut claim = forge::claim(&asked("Deploy?").resume(graph_runner()));
    claim.journal[0].at -= 10_000;
    let mut resumed = forge::cross_execution(claim).unwrap();
    let before = ConsequenceView::of(&resumed);
    assert!(before.was_suspended && before.total_duration_ms.is_none());
    let id = create(&store, &mut resumed).await;
    assert_eq!(ConsequenceView::of(&resumed), before);
    let loaded = load(&store, id).await;
    assert_eq!(ConsequenceView::of(&loaded), before);

    let AnyExecution::Running(running) = loaded else { panic!() };
    let view = view(running.succeed("yes".to_owned(), graph_runner()));
    assert!(view.was_suspended && !view.is_still_pending);
    assert!(view.total_duration_ms.is_some_and(|took| took >= 10_000));

    let id = create(&store, &mut reading()).await;
    assert!(!ConsequenceView::of(&load(&store, id).await).was_suspended);
}
