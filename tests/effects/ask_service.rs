//! Asking the remote service whether a call took effect.

use std::sync::Mutex;

use crate::effects::{
    prelude::*,
    tools::{Post, Tracking},
};

on_file! {
    not_found_is_failed,
    an_answer_from_before_the_settling_time_does_not_count_after_it,
    no_answer_leaves_it_in_doubt,
    the_service_is_asked_about_the_call,
    another_tool_is_not_asked,
    another_answer_may_be_first,
}

fn not_found() -> Answer {
    Err(NoReceipt::not_applied("we have no such mail"))
}

async fn ask(
    place: &Place,
    doubt: InDoubt,
    service: &impl Perform<Action>,
) -> Result<Settled, Refused<InDoubt, EffectError>> {
    place.store.ask_service(doubt, service, tool_node()).await
}

/// A service that can only be asked, and does this then.
struct Asked<F>(F);

impl<F, A> Perform<Action> for Asked<F>
where
    F: Fn(&Attempt<Action>) -> A + Send + Sync,
    A: Future<Output = ToolAnswer<Action>> + Send,
{
    async fn perform(&self, _call: &Call<Action>) -> ToolAnswer<Action> {
        panic!("asking is not calling")
    }

    async fn find(&self, attempt: &Attempt<Action>) -> ToolAnswer<Action> {
        (self.0)(attempt).await
    }
}

/// The key is free for another attempt.
async fn not_found_is_failed(place: Place) {
    let doubt = place.doubtful(mail("bob")).await;
    let settled = ask(&place, doubt, &Counting::finds(not_found())).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(failed.state().error, "we have no such mail");
    // People and models read that nobody refused it.
    let expected =
        "it was in doubt, and its service says that it did not take effect: we have no such mail";
    assert_eq!(place.view(failed.id()).await.error_message.as_deref(), Some(expected));
    let _ = place.done(mail("bob")).await;
    place.assert_intact().await;
}

/// A status query that takes its time.
async fn an_answer_from_before_the_settling_time_does_not_count_after_it(place: Place) {
    let (place, clock) = place.clocked().await;
    let doubt = place.doubtful(slow_mail("bob")).await;
    let slow = Asked(|_: &Attempt<Action>| {
        clock.advance(60_000);
        async { not_found().map_err(|it| it.map(Into::into)) }
    });
    let refused = ask(&place, doubt, &slow).await.unwrap_err();
    assert_is!(refused.reason, EffectError::NotSettled { .. });
    let asked = ask(&place, refused.machine, &Counting::finds(not_found())).await;
    assert_is!(asked, Ok(Settled::Failed(_)));
}

/// A service that cannot be asked, does not know, panics, or never answers: the query ends with the
/// timeout of the contract.
async fn no_answer_leaves_it_in_doubt(place: Place) {
    let doubt = place.doubtful(mail("bob").timeout_after(Duration::from_millis(20))).await;
    let before = place.dump();
    let Settled::InDoubt(doubt) = ask(&place, doubt, &answers(not_found())).await.unwrap() else {
        panic!("it cannot be asked")
    };
    let lost = Counting::finds(Err(NoReceipt::unknown("try later")));
    let Settled::InDoubt(doubt) = ask(&place, doubt, &lost).await.unwrap() else {
        panic!("it does not know")
    };
    let buggy = Asked(|_: &Attempt<Action>| async { panic!("a bug in the service") });
    let Settled::InDoubt(doubt) = ask(&place, doubt, &buggy).await.unwrap() else {
        panic!("it panicked")
    };
    let silent = Asked(|_: &Attempt<Action>| std::future::pending());
    let Settled::InDoubt(doubt) = ask(&place, doubt, &silent).await.unwrap() else {
        panic!("it does not answer")
    };
    assert_eq!(place.dump(), before);
    let _ = place.doubt().await;
    place.confirm(doubt).await;
}

/// The arguments that were approved, the key and the execution.
async fn the_service_is_asked_about_the_call(place: Place) {
    let doubt = place.doubtful(mail("bob")).await;
    let id = doubt.id();
    let key = doubt.context().idempotency_key().unwrap().to_string();
    let seen = Mutex::new(Vec::new());
    let curious = Asked(|attempt: &Attempt<Action>| {
        seen.lock().unwrap().extend([
            attempt.arguments.detail()["args"]["to"].as_str().unwrap().to_owned(),
            attempt.key.as_ref().unwrap().to_string(),
            attempt.execution_id.to_string(),
        ]);
        async { receipt("queued as 4711") }
    });
    let _ = ask(&place, doubt, &curious).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["bob".to_owned(), key, id.to_string()]);
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
    let before = place.dump();
    let refused = place.store.ask_service(doubt, &Letters, tool_node()).await.unwrap_err();
    assert_is!(refused.reason, EffectError::Contract { .. });
    assert_eq!(place.dump(), before);
    place.confirm(refused.machine).await;
}

/// A person was faster: the service's answer conflicts, and changes nothing.
async fn another_answer_may_be_first(place: Place) {
    let doubt = place.doubtful(mail("bob")).await;
    let id = doubt.id();
    place.confirm(place.store.in_doubt(id).await.unwrap()).await;
    let refused = ask(&place, doubt, &Counting::finds(not_found())).await.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::Conflict { id: of }) if *of == id);
    assert_eq!(place.status(id).await, Status::Completed);
}
