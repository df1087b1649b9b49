//! Questions that are not gates (OB-15): the answer is stored, and then resumed.

use machine::{
    actor::Human,
    contract::{Action, AnyExecution, Contract, Execution, Question, execution::Waiting},
    store::{CommitError, LoadError, OpenOptions, Store},
};
use machine_tests::{
    actors::{ecs_node, graph_runner, reasoning_node},
    assert_err,
    samples::{mail, pending_mail},
};

fn asked(text: &str) -> Execution<Waiting> {
    let contract = Contract::ecs_request(text, reasoning_node()).unwrap();
    Execution::new(contract).start(ecs_node()).suspend(text.to_owned(), ecs_node())
}

async fn question(store: &Store) -> Question {
    let mut waiting = asked("Which port?");
    store.create(&mut waiting).await.unwrap();
    store.question(waiting.id()).await.unwrap()
}

fn ann() -> Human {
    Human::new("ann@example.com").unwrap()
}

#[tokio::test]
async fn the_answer_is_stored_and_then_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = Store::sqlite(&file).await.unwrap();
    let question = question(&store).await;
    let id = question.id();
    drop(store.respond(question, "8080", &ann()).await.unwrap());
    store.close().await.unwrap();

    // The process that was to resume it has ended. Any other can.
    let store = OpenOptions::new().sqlite(&file).await.unwrap();
    let question = store.question(id).await.unwrap();
    assert_eq!(question.answered_by().as_deref(), Some("ann@example.com"));
    let done = store.proceed(question, graph_runner()).await.unwrap();
    let AnyExecution::Completed(done) = done else { panic!("{:?}", done.status()) };
    assert_eq!(done.state().result, "8080");
    store.verify::<AnyExecution>(id).await.unwrap();
    assert_err!(store.question(id).await, LoadError::NotAQuestion { .. });
}

#[tokio::test]
async fn there_is_one_answer_and_nothing_goes_on_without() {
    let store = Store::memory();
    let question = question(&store).await;
    let id = question.id();
    let refused = store.proceed(question, graph_runner()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::Unanswered { .. }), "{}", refused.reason);

    let (one, other) = (refused.machine, store.question(id).await.unwrap());
    let answered = store.respond(one, "8080", &ann()).await.unwrap();
    let late = store.respond(other, "9090", &ann()).await.unwrap_err();
    assert!(matches!(late.reason, CommitError::Conflict { .. }), "{}", late.reason);
    // It came back as it was.
    assert_eq!(late.machine.answered_by(), None);
    let again = store.respond(answered, "9090", &ann()).await.unwrap_err();
    assert!(again.reason.to_string().contains("was answered before"), "{}", again.reason);
    let done = store.proceed(again.machine, graph_runner()).await.unwrap();
    assert!(matches!(done, AnyExecution::Completed(done) if done.state().result == "8080"));
}

#[tokio::test]
async fn a_long_answer_is_cut() {
    let store = Store::memory();
    let question = question(&store).await;
    let question = store.respond(question, &"x".repeat(100_000), &ann()).await.unwrap();
    let done = store.proceed(question, graph_runner()).await.unwrap();
    let AnyExecution::Completed(done) = done else { panic!("{:?}", done.status()) };
    assert!(done.state().result.ends_with("(cut from 100000 bytes)"));
}

#[tokio::test]
async fn gates_and_others_are_not_questions() {
    let store = Store::memory();
    let (mut gate, mut planned) = mail("bob@example.com").ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let error = store.question(gate.id()).await.unwrap_err().to_string();
    assert!(error.contains("a gate, which is approved or declined"), "{error}");
    let mut pending = pending_mail("bob@example.com");
    store.create(&mut pending).await.unwrap();
    assert_err!(store.question(pending.id()).await, LoadError::NotAQuestion { found, .. } if found == "PENDING");
}
