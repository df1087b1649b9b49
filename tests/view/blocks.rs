//! The blocks of a prompt (OB-8): results of tools, answers of people, and what has not ended.

use machine::{
    contract::{Action, Contract, Execution, Settled, ToolSpec},
    store::Store,
    view::{Language, Observer},
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node},
    samples::{asked_in, mail, receipt},
};

async fn prompt(store: &Store, language: Language) -> String {
    let found = Observer::new(store).language(language).consequences("s").await.unwrap();
    found.prompt().language(language).to_string()
}

/// Ended executions, statements of people, and running executions are three blocks; a gate is in none of them.
#[tokio::test]
async fn a_prompt_has_a_block_for_each_kind() {
    let store = Store::memory();
    assert_eq!(prompt(&store, Language::English).await, "");
    let (mut gate, mut deferred) =
        mail("bob").session("s").ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut deferred).await.unwrap();
    // An unanswered gate is not a line: the action behind it is.
    let open = "Not ended yet, so the outcome is still open:\n\n[DEFERRED] email.send → bob";
    let go_on = "Continue with the user's request on the basis of the results above.";
    assert_eq!(prompt(&store, Language::English).await, format!("{open}\n\n{go_on}"));

    let (mut gate, mut planned) = mail("eve").session("s").ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    machine_tests::approve(&store, gate, ann()).await.unwrap();
    let settled = store.perform(planned, receipt("250 OK"), tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
    let contract = Contract::ecs_request("Which room?", reasoning_node()).unwrap().session("s");
    let mut answered = asked_in(contract).resume(graph_runner());
    store.create(&mut answered).await.unwrap();
    let mut answered = answered.succeed("the blue one".to_owned(), graph_runner());
    store.commit(&mut answered).await.unwrap();
    let tool = ToolSpec::idempotent("calendar", "create").unwrap();
    let contract = Contract::tool_call(&tool, "{}", reasoning_node()).unwrap().session("s");
    let mut running = Execution::new(contract).start(tool_node());
    store.create(&mut running).await.unwrap();

    let results = "Tool results:\n\n\
        [SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → eve: 250 OK";
    let answers = "Answers of people:\n\n[SUCCESS] ecs.confirm: the blue one";
    let note = "Note: actions marked ⚠️ IRREVERSIBLE have taken effect and cannot be taken back.";
    assert_eq!(
        prompt(&store, Language::English).await,
        format!(
            "{results}\n\n{answers}\n\n{open}\n[IN_PROGRESS] calendar.create\n\n{go_on}\n{note}"
        )
    );
}

/// Only SUCCESS lines say that a person confirmed.
#[tokio::test]
async fn a_failure_has_no_marks() {
    let store = Store::memory();
    let (mut gate, mut planned) = mail("bob").session("s").ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    machine_tests::approve(&store, gate, ann()).await.unwrap();
    let (running, permit) = store.begin(planned, tool_node()).await.unwrap();
    let id = running.id();
    let line = async || {
        let observer = Observer::new(&store);
        let view = observer.consequence_view(id).await.unwrap();
        assert!(view.human_confirmed);
        view.to_string()
    };
    assert_eq!(line().await, "[IN_PROGRESS] email.send → bob");
    let refused = machine::contract::NotDone::not_applied("SMTP connection refused");
    let outcome = permit.call(machine_tests::samples::answers(Err(refused))).await;
    drop(store.settle(running, outcome, tool_node()).await.unwrap());
    assert_eq!(line().await, "[FAILED] email.send → bob: SMTP connection refused");
}
