//! Refused commits of irreversible executions; the file and the machine stay unchanged.

use crate::effects::prelude::*;

on_file! {
    it_starts_only_by_begin,
    nothing_ends_it_without_evidence,
    nothing_leaves_a_doubt_without_an_answer,
    the_wrong_evidence_is_refused,
}

async fn assert_refused(place: &Place, mut moved: AnyExecution) {
    let id = moved.id();
    let status = place.status(id).await;
    assert_is!(place.refuses_machine(&mut moved).await,
        EffectError::Commit(CommitError::Refused { id: of, .. }) if *of == id);
    assert_eq!(place.status(id).await, status);
}

/// One that was started otherwise is neither committed nor created, whatever state it is in.
async fn it_starts_only_by_begin(place: Place) {
    let pending = place.stored(mail("bob")).await;
    let id = pending.id();
    let mut running = pending.start(tool_node());
    assert_is!(place.refuses_machine(&mut running).await,
        EffectError::Commit(CommitError::Refused { breach, .. }) if breach.to_string().contains("begin"));
    assert_eq!(running.journal().uncommitted().len(), 1);
    assert_eq!(place.status(id).await, Status::Pending);

    let place = place.another().await;
    let mut running = pending_mail("bob").start(ecs_node());
    let refused = place.store.create(&mut running).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { .. }));
    let mut done = running.succeed("sent".to_owned(), tool_node());
    let refused = place.store.create(&mut done).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { .. }));
    assert_eq!(place.lines(&Query::new()).await, []);
}

/// COMPLETED needs evidence. Another end would release the key while the permit is unanswered.
/// WAITING would count as in doubt while the worker is alive, and the answer could release the key.
async fn nothing_ends_it_without_evidence(place: Place) {
    let no = || "no".to_owned();
    for event in [
        Event::Succeed { result: "sent".to_owned() },
        Event::Suspend { prompt: "still there?".to_owned() },
        Event::Fail { error: no(), refusal: None },
        Event::Reject { reason: no() },
        Event::Cancel { reason: no() },
    ] {
        let place = place.another().await;
        let (running, _permit) = place.begun(mail("bob")).await;
        let moved = AnyExecution::from(running).apply(event, tool_node()).unwrap();
        assert_refused(&place, moved).await;
        assert_eq!(place.recovered().await.len(), 0);
    }
}

/// It is neither resumed nor ended.
async fn nothing_leaves_a_doubt_without_an_answer(place: Place) {
    for event in [Event::Resume, Event::Cancel { reason: "no".to_owned() }, Event::Timeout] {
        let place = place.another().await;
        let id = place.doubtful(mail("bob")).await.id();
        let mut waiting: AnyExecution = place.store.load(id).await.unwrap();
        waiting.apply_mut(event, graph_runner()).unwrap();
        assert_refused(&place, waiting).await;
    }
}

/// Evidence that nothing happened does not make it COMPLETED.
async fn the_wrong_evidence_is_refused(place: Place) {
    let id = place.failed(mail("bob")).await.id();
    let payload = serde_json::json!({ "result": "sent" });
    let forged = place.forged_end(id, "succeed", "completed", &payload).await;
    assert_err!(forged, VerifyError::Rules { .. });
}
