//! `IN_DOUBT` and `CONTRADICTED`: the view first says that it happened, in any state.

use machine::{
    contract::{
        Action, Answer, AnyExecution, Applied, Call, Execution, NotDone, Progress, Settled,
        execution::{Pending, Status},
        service_fn,
    },
    store::Store,
    view::{ConsequenceView, Label, Prompt, late_evidence},
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    samples::{answers, mail, pending_mail, receipt},
};
use serde_json::json;

/// Begins the mail. While it is called, `meanwhile` is done to it; then the service answers.
async fn called(
    store: &Store,
    mut pending: Execution<Pending>,
    overridden: bool,
    answer: Option<Answer>,
) -> AnyExecution {
    let id = pending.id();
    store.create(&mut pending).await.unwrap();
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let elsewhere = store.clone();
    let service = service_fn(move |call: &Call<Action>| {
        let (store, id, answer) = (elsewhere.clone(), call.execution_id(), answer.clone());
        Box::pin(async move {
            let doubt = store.fence(id, "it takes too long", graph_runner()).await.unwrap();
            if overridden {
                drop(store.override_not_applied(doubt, "no mail arrived", ann()).await.unwrap());
            }
            answer.unwrap_or_else(|| Err(NotDone::unknown("the connection broke")))
        })
    });
    let outcome = permit.call(service).await;
    // The worker was fenced, so its answer is kept as late.
    drop(store.settle(running, outcome, tool_node()).await);
    store.load(id).await.unwrap()
}

/// A mail in doubt, perhaps with an answer that arrived late.
pub(crate) async fn in_doubt(answer: Option<Answer>) -> AnyExecution {
    called(&Store::memory(), pending_mail("bob"), false, answer).await
}

/// A mail that a person freed while its worker was alive, and which then answered.
pub(crate) async fn overridden(answer: Answer) -> AnyExecution {
    called(&Store::memory(), pending_mail("bob"), true, Some(answer)).await
}

fn line(execution: &AnyExecution) -> String {
    ConsequenceView::of(execution).to_string()
}

/// Unknown: it neither worked nor failed, and waits for a person.
#[tokio::test]
async fn an_unknown_outcome_is_in_doubt() {
    let execution = in_doubt(None).await;
    assert_eq!(execution.status(), Status::Waiting);
    let view = ConsequenceView::of(&execution);
    assert_eq!(view.consequence_label, Label::InDoubt);
    assert_eq!(json!(view)["consequence_label"], "IN_DOUBT");
    assert_eq!((view.result.as_deref(), view.has_side_effects), (None, false));
    assert!(view.is_still_pending && view.was_suspended && !view.human_confirmed);
    assert_eq!(line(&execution), "[IN_DOUBT] email.send → bob: nobody knows whether it took place");
}

/// A service that says so itself makes the same.
#[tokio::test]
async fn a_service_that_does_not_know_is_in_doubt() {
    let store = Store::memory();
    let mut pending = pending_mail("bob");
    store.create(&mut pending).await.unwrap();
    let unknown = answers(Err(NotDone::unknown("the line went dead")));
    let settled = store.perform(pending, unknown, tool_node()).await.unwrap();
    let Settled::InDoubt(doubt) = settled else { panic!("{settled:?}") };
    let execution: AnyExecution = store.load(doubt.execution().id()).await.unwrap();
    assert!(line(&execution).starts_with("[IN_DOUBT] "), "{}", line(&execution));
}

/// A question to a person is WAITING, and not in doubt.
#[test]
fn a_question_is_not_in_doubt() {
    let view = ConsequenceView::of(&machine_tests::samples::asked("Sure?").into());
    assert_eq!(view.consequence_label, Label::Waiting);
}

/// A late receipt comes first, and the action counts as done: in the view and in the prompt.
#[tokio::test]
async fn a_late_receipt_comes_first() {
    let execution = in_doubt(Some(Ok(Applied::new("250 queued")))).await;
    let view = ConsequenceView::of(&execution);
    assert_eq!(view.consequence_label, Label::InDoubt);
    assert!(view.has_side_effects);
    assert_eq!(
        view.to_string(),
        "[IN_DOUBT ⚠️ IRREVERSIBLE] email.send → bob: it took place: 250 queued"
    );
    assert!(
        Prompt::new(&[view]).to_string().ends_with("have taken effect and cannot be taken back.")
    );
}

/// A late "not applied" proves nothing to the reader as long as the execution waits.
#[tokio::test]
async fn a_late_refusal_is_no_effect() {
    let execution = in_doubt(Some(Err(NotDone::not_applied("refused")))).await;
    let view = ConsequenceView::of(&execution);
    assert_eq!((view.consequence_label, view.has_side_effects), (Label::InDoubt, false));
}

/// It was freed by a person, and then its receipt arrived: it is not FAILED any more, for anybody.
#[tokio::test]
async fn a_receipt_after_the_end_contradicts_it() {
    let execution = overridden(Ok(Applied::new("250 queued"))).await;
    assert_eq!(execution.status(), Status::Failed);
    let view = ConsequenceView::of(&execution);
    assert_eq!(view.consequence_label, Label::Contradicted);
    assert_eq!(json!(view)["consequence_label"], "CONTRADICTED");
    assert!(view.has_side_effects && !view.is_still_pending && !view.human_confirmed);
    assert_eq!(
        view.to_string(),
        "[CONTRADICTED ⚠️ IRREVERSIBLE] email.send → bob: it took place, perhaps more than once: \
         250 queued: recorded before as not done: no mail arrived"
    );
    let progress = Progress::of(&execution);
    assert!(progress.is_contradicted() && progress.is_applied() && !progress.is_in_doubt());
    assert_eq!(progress.overridden_by(), Some("ann"));
    assert_eq!(progress.receipt(), Some("250 queued"));
}

/// A late answer that does not contradict the end changes no view.
#[tokio::test]
async fn an_answer_that_agrees_ends_the_doubt() {
    let execution = overridden(Err(NotDone::not_applied("refused"))).await;
    assert_eq!(line(&execution), "[FAILED] email.send → bob: no mail arrived");
    // One that proves nothing leaves it open.
    let execution = overridden(Err(NotDone::unknown("no idea"))).await;
    let line = line(&execution);
    assert!(line.starts_with("[FAILED] email.send → bob: a person declared it not done"), "{line}");
    assert!(line.ends_with("it may still take place: no mail arrived"), "{line}");
}

/// A person said that it took effect, and its worker says that it did not: the view shows both.
#[tokio::test]
async fn a_person_who_is_contradicted_by_the_worker() {
    let store = Store::memory();
    let execution =
        called(&store, pending_mail("bob"), false, Some(Err(NotDone::not_applied("refused"))))
            .await;
    let doubt = store.in_doubt(execution.id()).await.unwrap();
    drop(store.confirm_applied(doubt, "I saw it", ann()).await.unwrap());
    let execution: AnyExecution = store.load(execution.id()).await.unwrap();
    let line = line(&execution);
    assert!(line.starts_with("[SUCCESS ⚠️ IRREVERSIBLE] email.send → bob: I saw it: "), "{line}");
    assert!(
        line.contains("its worker or its service says that it did not take place: refused"),
        "{line}"
    );
}

/// A receipt in time is not a contradiction, and a person who confirms is not an approver.
#[tokio::test]
async fn a_confirmed_receipt_is_a_success() {
    let store = Store::memory();
    let answer = Some(Ok(Applied::new("250 queued")));
    let execution = called(&store, pending_mail("bob"), false, answer).await;
    let doubt = store.in_doubt(execution.id()).await.unwrap();
    drop(store.confirm_applied(doubt, "250 queued", ann()).await.unwrap());
    let execution: AnyExecution = store.load(execution.id()).await.unwrap();
    assert_eq!(line(&execution), "[SUCCESS ⚠️ IRREVERSIBLE] email.send → bob: 250 queued");
    assert!(!ConsequenceView::of(&execution).human_confirmed);

    let mut pending = Execution::new(mail("eve"));
    store.create(&mut pending).await.unwrap();
    let settled = store.perform(pending, receipt("250 queued"), tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!(line(&done.into()), "[SUCCESS ⚠️ IRREVERSIBLE] email.send → eve: 250 queued");
}

/// The late evidence itself is in the history, in full.
#[tokio::test]
async fn late_evidence_is_listed() {
    let store = Store::memory();
    let long = "x".repeat(1000);
    let answer = Some(Ok(Applied::new(long.clone())));
    let execution = called(&store, pending_mail("bob"), true, answer).await;
    let history = store.history(execution.id()).await.unwrap();
    let late = late_evidence(&history);
    assert_eq!(late.len(), 1, "{late:?}");
    assert_eq!(late[0].evidence, machine::contract::Evidence::Applied(long.clone()));
    // The views keep its beginning.
    let view = ConsequenceView::of(&execution);
    let shown = view.result.unwrap();
    assert!(shown.contains(&long[..200]) && !shown.contains(&long[..201]), "{shown}");
}

/// A view is the same for what was loaded and what was exported.
#[tokio::test]
async fn a_contradiction_survives_an_export() {
    let store = Store::memory();
    let answer = Some(Ok(Applied::new("250 queued")));
    let execution = called(&store, pending_mail("bob"), true, answer).await;
    let json = serde_json::to_string(&store.export(execution.id()).await.unwrap()).unwrap();
    let claim: machine::stored::Unverified = serde_json::from_str(&json).unwrap();
    let exported: AnyExecution = claim.verify().unwrap();
    assert_eq!(ConsequenceView::of(&exported), ConsequenceView::of(&execution));
}
