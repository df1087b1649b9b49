//! The checks of EX-7 that depend on time.

use std::time::Duration;

use machine::{
    clock,
    contract::execution::{Status, Waiting},
    effects::{Resume, ResumeWarning},
    store::{CommitError, LoadError},
};
use machine_tests::{
    actors::{ann, graph_runner},
    assert_err, forge,
    samples::asked,
};

use crate::store::support::{Place, on_both};

on_both! {
    an_answer_does_not_make_a_question_younger,
    what_waited_too_long_is_refused,
    what_was_asked_in_the_future_is_not_old,
}

const HOUR_MS: i64 = 3_600_000;

/// Stores a machine that entered WAITING at now plus `shift_ms`.
async fn waiting_since(place: &Place, shift_ms: i64) -> machine::Id {
    let mut claim = forge::claim(&asked("Deploy?"));
    for entry in &mut claim.journal {
        entry.at = clock::now() + shift_ms;
    }
    let mut waiting = forge::cross_execution(claim).unwrap();
    place.store.create(&mut waiting).await.unwrap();
    waiting.id()
}

/// A checkpoint that is too old is refused, but stays stored.
async fn what_waited_too_long_is_refused(place: Place) {
    let id = waiting_since(&place, -HOUR_MS).await;
    let before = place.dump().await;
    let minute = Resume::default().max_age(Duration::from_mins(1));
    let refused = place.store.resume_with::<Waiting>(id, minute).await;
    assert_err!(refused, LoadError::Expired { id: of, age_ms, limit_ms: 60_000 }
        if *of == id && *age_ms >= HOUR_MS.unsigned_abs());
    assert_eq!(place.dump().await, before);

    let day = Resume::default().max_age(Duration::from_hours(24));
    let _ = place.store.resume_with::<Waiting>(id, day).await.unwrap();
    let _ = place.store.resume::<Waiting>(id).await.unwrap();
}

/// The limit counts from when the question was asked, also if an answer was stored just now.
async fn an_answer_does_not_make_a_question_younger(place: Place) {
    let id = waiting_since(&place, -HOUR_MS).await;
    let question = place.store.question(id).await.unwrap();
    let question = place.store.respond(question, "yes", ann()).await.unwrap();
    let minute = Resume::default().max_age(Duration::from_mins(1));
    assert_err!(place.store.resume_with::<Waiting>(id, minute).await, LoadError::Expired { .. });
    let refused = place.store.proceed_with(question, minute, graph_runner()).await.unwrap_err();
    let CommitError::NotResumed { source } = refused.reason else { panic!("{refused}") };
    assert_err!(Err::<(), _>(*source), LoadError::Expired { age_ms, limit_ms: 60_000, .. }
        if *age_ms >= HOUR_MS.unsigned_abs());

    let day = Resume::default().max_age(Duration::from_hours(24)).resuming(2);
    let resumed = place.store.proceed_with(refused.machine, day, graph_runner()).await.unwrap();
    assert_eq!(resumed.execution.status(), Status::Completed);
    assert!(resumed.age_ms >= HOUR_MS.unsigned_abs(), "{resumed:?}");
    assert_eq!(resumed.warnings, [ResumeWarning::Number { resuming: 2, waiting: 1 }]);
}

/// A clock that went back does not make a recent question old.
async fn what_was_asked_in_the_future_is_not_old(place: Place) {
    let id = waiting_since(&place, HOUR_MS).await;
    let minute = Resume::default().max_age(Duration::from_mins(1));
    let resumed = place.store.resume_with::<Waiting>(id, minute).await;
    assert!(resumed.is_ok(), "{resumed:?}");
}
