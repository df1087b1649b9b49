//! Asking the remote service whether a call took effect.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::{
    contract::{
        Action, Answer, Attempt, Call, CallFact, InDoubt, NotDone, Perform, Settled,
        execution::Status,
    },
    store::CommitError,
    typed::Refused,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    samples::mail,
};

use crate::effects::tools::{Post, Tracking};
use crate::store::{
    child,
    service::{Counting, answers, in_flight, receipt},
    support::{Hand, Place, on_both, slow_mail},
};

on_both! {
    found_is_completed,
    not_found_is_failed,
    not_found_counts_only_after_the_settling_time,
    an_answer_from_before_the_settling_time_does_not_count_after_it,
    not_found_does_not_count_while_the_worker_is_alive,
    found_counts_while_the_worker_is_alive,
    no_answer_leaves_it_in_doubt,
    the_service_is_told_what_to_look_for,
    another_tool_is_not_asked,
    another_answer_may_be_first,
    a_service_that_does_not_answer_leaves_it_in_doubt,
}

/// Never answers.
struct Silent;

impl Perform<Action> for Silent {
    async fn perform(&self, _call: &Call<Action>) -> Answer {
        std::future::pending().await
    }

    async fn find(&self, _attempt: &Attempt<Action>) -> Answer {
        std::future::pending().await
    }
}

/// The query ends with the timeout of the contract.
async fn a_service_that_does_not_answer_leaves_it_in_doubt(place: Place) {
    let doubt = place.doubtful(mail("bob").timeout_after(Duration::from_millis(20))).await;
    let settled = ask(&place, doubt, &Silent).await.unwrap();
    assert!(matches!(settled, Settled::InDoubt(_)), "{settled:?}");
    assert_eq!(place.recovered().await.len(), 1);
}

fn not_found() -> Answer {
    Err(NotDone::not_applied("we have no such mail"))
}

async fn ask(
    place: &Place,
    doubt: InDoubt,
    service: &impl Perform<Action>,
) -> Result<Settled, Refused<InDoubt, CommitError>> {
    place.store.ask_service(doubt, service, tool_node()).await
}

async fn found_is_completed(place: Place) {
    let doubt = place.doubtful(mail("bob")).await;
    let service = Counting::finds(receipt("queued as 4711"));
    let settled = ask(&place, doubt, &service).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!(done.state().result, "queued as 4711");
    assert_eq!(Counting::calls(&service), 0, "asking is not calling");
    let entries = place.entries(done.id()).await;
    let confirmed = entries.iter().find(|entry| {
        matches!(CallFact::of(entry), Some(CallFact::Confirmed { applied: true, .. }))
    });
    let confirmed = confirmed.unwrap();
    assert_eq!(confirmed.actor.as_deref(), Some("tool_node"));
    assert!(!place.view(done.id()).await.human_confirmed);
    assert_eq!(place.recovered().await.len(), 0);
}

/// The key is free for another attempt.
async fn not_found_is_failed(place: Place) {
    let doubt = place.doubtful(mail("bob")).await;
    let settled = ask(&place, doubt, &Counting::finds(not_found())).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(failed.state().error, "we have no such mail");
    let _ = place.done(mail("bob")).await;
    assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
}

/// Until then, the service may not know it yet.
async fn not_found_counts_only_after_the_settling_time(place: Place) {
    let (place, clock) = place.clocked().await;
    let doubt = place.doubtful(slow_mail("bob")).await;
    let id = doubt.execution().id();
    let service = Counting::finds(not_found());
    clock.advance(59_999);
    let before = place.dump().await;
    let refused = ask(&place, doubt, &service).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::NotSettled { id: of, left_ms: 1 }
        if *of == id);
    assert_eq!(place.dump().await, before);
    clock.advance(1);
    let settled = ask(&place, refused.machine, &service).await.unwrap();
    assert!(matches!(settled, Settled::Failed(_)));
}

/// A status query that takes its time.
struct Slow {
    clock: Hand,
}

impl Perform<Action> for Slow {
    async fn perform(&self, _call: &Call<Action>) -> Answer {
        Err(NotDone::unknown("it is only asked"))
    }

    async fn find(&self, _attempt: &Attempt<Action>) -> Answer {
        self.clock.advance(60_000);
        not_found()
    }
}

async fn an_answer_from_before_the_settling_time_does_not_count_after_it(place: Place) {
    let (place, clock) = place.clocked().await;
    let doubt = place.doubtful(slow_mail("bob")).await;
    let refused = ask(&place, doubt, &Slow { clock }).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::NotSettled { .. });
    let settled = ask(&place, refused.machine, &Counting::finds(not_found())).await.unwrap();
    assert!(matches!(settled, Settled::Failed(_)));
}

async fn not_found_does_not_count_while_the_worker_is_alive(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let call = in_flight(permit).await;
    let doubt = place.store.fence(running.id(), "no answer", graph_runner()).await.unwrap();
    let service = Counting::finds(not_found());
    let refused = ask(&place, doubt, &service).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::WorkerAlive { .. });
    assert_eq!(place.status(running.id()).await, Status::Waiting);
    assert!(call.abort().await.is_cancelled());
    assert!(matches!(ask(&place, refused.machine, &service).await, Ok(Settled::Failed(_))));
}

/// Nor if it is unknown whether the worker has ended.
#[tokio::test]
async fn not_found_does_not_count_if_the_worker_is_unknown() {
    let place = Place::new().await;
    let id = place.stored(mail("bob")).await.id();
    child::begin_and_be_killed(&place.file(), id);
    std::fs::remove_file(&place.worker_files()[0]).unwrap();
    let doubt = place.recovered().await.pop().unwrap();
    let refused = ask(&place, doubt, &Counting::finds(not_found())).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::WorkerUnknown { id: of } if *of == id);
    let found = Counting::finds(receipt("queued as 4711"));
    assert!(matches!(ask(&place, refused.machine, &found).await, Ok(Settled::Completed(_))));
}

async fn found_counts_while_the_worker_is_alive(place: Place) {
    let (running, permit) = place.begun(slow_mail("bob")).await;
    let call = in_flight(permit).await;
    let doubt = place.store.fence(running.id(), "no answer", graph_runner()).await.unwrap();
    let settled = ask(&place, doubt, &Counting::finds(receipt("queued as 4711"))).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
    drop(call.answer(receipt("queued as 4711")).await);
}

/// A service that cannot be asked, does not know, or panics.
async fn no_answer_leaves_it_in_doubt(place: Place) {
    struct Buggy;

    impl Perform<Action> for Buggy {
        async fn perform(&self, _call: &Call<Action>) -> Answer {
            Err(NotDone::unknown("it is only asked"))
        }

        async fn find(&self, _attempt: &Attempt<Action>) -> Answer {
            panic!("a bug in the service")
        }
    }

    let doubt = place.doubtful(mail("bob")).await;
    let before = place.dump().await;
    let Settled::InDoubt(doubt) = ask(&place, doubt, &answers(not_found())).await.unwrap() else {
        panic!("it cannot be asked")
    };
    let unknown = Counting::finds(Err(NotDone::unknown("try later")));
    let Settled::InDoubt(doubt) = ask(&place, doubt, &unknown).await.unwrap() else {
        panic!("it does not know")
    };
    let Settled::InDoubt(doubt) = ask(&place, doubt, &Buggy).await.unwrap() else {
        panic!("it panicked")
    };
    assert_eq!(place.dump().await, before);
    let _ = place.store.confirm_applied(doubt, "bob has it", ann()).await.unwrap();
}

/// The arguments that were approved, the key and the execution.
async fn the_service_is_told_what_to_look_for(place: Place) {
    #[derive(Default, Clone)]
    struct Curious(Arc<Mutex<Vec<String>>>);

    impl Perform<Action> for Curious {
        async fn perform(&self, _call: &Call<Action>) -> Answer {
            Err(NotDone::unknown("it is only asked"))
        }

        async fn find(&self, attempt: &Attempt<Action>) -> Answer {
            self.0.lock().unwrap().extend([
                attempt.arguments().detail()["args"]["to"].as_str().unwrap().to_owned(),
                attempt.key().unwrap().to_string(),
                attempt.execution_id().to_string(),
            ]);
            receipt("queued as 4711")
        }
    }

    let doubt = place.doubtful(mail("bob")).await;
    let id = doubt.execution().id();
    let key = doubt.execution().context().idempotency_key().unwrap().to_string();
    let service = Curious::default();
    let _ = ask(&place, doubt, &service).await.unwrap();
    assert_eq!(*service.0.lock().unwrap(), ["bob".to_owned(), key, id.to_string()]);
}

/// A service of another tool is not asked about this one.
async fn another_tool_is_not_asked(place: Place) {
    struct Letters;

    impl Perform<Post> for Letters {
        async fn perform(&self, _call: &Call<Post>) -> Answer<Tracking> {
            panic!("it is not called")
        }

        async fn find(&self, _attempt: &Attempt<Post>) -> Answer<Tracking> {
            panic!("it is not asked")
        }
    }

    let doubt = place.doubtful(mail("bob")).await;
    let before = place.dump().await;
    let refused = place.store.ask_service(doubt, &Letters, tool_node()).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::Contract { .. });
    assert_eq!(place.dump().await, before);
    let _ = place.store.confirm_applied(refused.machine, "bob has it", ann()).await.unwrap();
}

/// A person was faster: the service's answer conflicts, and changes nothing.
async fn another_answer_may_be_first(place: Place) {
    let doubt = place.doubtful(mail("bob")).await;
    let id = doubt.execution().id();
    let theirs = place.store.in_doubt(id).await.unwrap();
    let _ = place.store.confirm_applied(theirs, "bob has it", ann()).await.unwrap();
    let refused = ask(&place, doubt, &Counting::finds(not_found())).await.unwrap_err();
    assert_err!(Err::<(), _>(refused.reason), CommitError::Conflict { id: of } if *of == id);
    assert_eq!(place.status(id).await, Status::Completed);
}
