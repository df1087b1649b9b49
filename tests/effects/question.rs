//! Questions that are not gates: the answer is stored, and then resumed.

use machine::contract::Question;

use crate::effects::prelude::*;

on_file! {
    the_answer_is_stored_and_then_the_result,
    only_the_first_answer_resumes_a_question,
    a_long_answer_is_cut,
    gates_and_others_are_not_questions,
}

async fn question(place: &Place) -> Question {
    let mut waiting = asked("Which port?");
    place.store.create(&mut waiting).await.unwrap();
    place.store.question(waiting.id()).await.unwrap()
}

fn result(done: AnyExecution) -> String {
    match done {
        AnyExecution::Completed(done) => done.state().result.clone(),
        other => panic!("expected COMPLETED, found {other:?}"),
    }
}

async fn the_answer_is_stored_and_then_the_result(place: Place) {
    let question = question(&place).await;
    let id = question.id();
    drop(place.store.respond(question, "8080", ann()).await.unwrap());

    // The process that was to resume it has ended. Any other can.
    let place = place.reopened().await;
    let question = place.store.question(id).await.unwrap();
    assert_eq!(question.answered_by().as_deref(), Some("ann"));
    let done = place.store.proceed(question, Resume::default(), graph_runner()).await.unwrap();
    assert_eq!(result(done.execution), "8080");
    place.store.verify::<AnyExecution>(id).await.unwrap();
    assert_err!(place.store.question(id).await, StateError::NotAQuestion { .. });
}

async fn only_the_first_answer_resumes_a_question(place: Place) {
    let question = question(&place).await;
    let id = question.id();
    let refused =
        place.store.proceed(question, Resume::default(), graph_runner()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::Unanswered { .. });

    let (one, other) = (refused.machine, place.store.question(id).await.unwrap());
    let answered = place.store.respond(one, "8080", ann()).await.unwrap();
    let late = place.store.respond(other, "9090", ann()).await.unwrap_err();
    assert_is!(late.reason, EffectError::Commit(CommitError::Conflict { .. }));
    // It came back as it was.
    assert_eq!(late.machine.answered_by(), None);
    let again = place.store.respond(answered, "9090", ann()).await.unwrap_err();
    assert!(again.reason.to_string().contains("is already answered"), "{}", again.reason);
    let done = place.store.proceed(again.machine, Resume::default(), graph_runner()).await.unwrap();
    assert_eq!(result(done.execution), "8080");
}

async fn a_long_answer_is_cut(place: Place) {
    let question = question(&place).await;
    let question = place.store.respond(question, &"x".repeat(100_000), ann()).await.unwrap();
    let done = place.store.proceed(question, Resume::default(), graph_runner()).await.unwrap();
    assert!(result(done.execution).ends_with("(cut from 100000 bytes)"));
}

async fn gates_and_others_are_not_questions(place: Place) {
    let (gate, _planned) = place.asked(mail("bob")).await;
    let error = place.store.question(gate.id()).await.unwrap_err().to_string();
    assert!(error.contains("a gate, which is approved or declined"), "{error}");
    let pending = place.stored(mail("bob")).await;
    assert_err!(place.store.question(pending.id()).await,
        StateError::NotAQuestion { found, .. } if found == "PENDING");
}
