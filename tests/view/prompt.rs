//! The prompt (OB-8, EX-14): its blocks, its note, and what a limit leaves out.

use crate::view::prelude::*;

/// The end of a section, before the note.
const GO_ON: &str = "\n\nContinue with the user's request based on the results above.";

const NOTE: &str = "Note: actions marked ⚠️ IRREVERSIBLE have taken effect and cannot be undone.";

const SENT: &str = "[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → eve: 250 OK";

fn calendar(about: &str) -> Contract {
    let tool = ToolSpec::idempotent("calendar", "create").unwrap();
    Contract::tool_call(&tool, "{}", reasoning_node()).unwrap().session("s").about(about)
}

async fn sent(store: &Store) -> AnyExecution {
    let (_, planned) = approved(store, mail("eve").session("s")).await;
    performed(store, planned, done("250 OK")).await
}

/// Ended executions, statements of people, and running executions are three blocks; a gate is in
/// none of them.
#[tokio::test]
async fn a_prompt_has_a_block_for_each_kind() {
    let store = Store::memory();
    let prompt = async || {
        let found = Observer::new(&store).consequences("s").await.unwrap();
        found.prompt().to_string()
    };
    assert_eq!(prompt().await, "");
    drop(ask(&store, mail("bob").session("s")).await);
    // An unanswered gate is not a line: the action behind it is.
    let open = "Not ended yet; the outcome is open:\n\n[DEFERRED] email.send → bob";
    assert_eq!(prompt().await, format!("{open}{GO_ON}"));

    sent(&store).await;
    let contract = Contract::ecs_request("Which room?", reasoning_node()).unwrap().session("s");
    let mut answered = machine_tests::samples::asked_in(contract).resume(graph_runner());
    store.create(&mut answered).await.unwrap();
    let mut answered = answered.succeed("the blue one".to_owned(), graph_runner());
    store.commit(&mut answered).await.unwrap();
    let mut running = Execution::new(calendar("Monday")).start(tool_node());
    store.create(&mut running).await.unwrap();

    let answers = "Human answers:\n\n[SUCCESS] ecs.confirm: the blue one";
    let open = format!("{open}\n[IN_PROGRESS] calendar.create → Monday");
    assert_eq!(
        prompt().await,
        format!("Tool results:\n\n{SENT}\n\n{answers}\n\n{open}{GO_ON}\n{NOTE}")
    );
}

/// Effects are the last to be left out, however many others there are and whatever they say;
/// of those the newest are shown.
#[tokio::test]
async fn a_limit_leaves_out_what_matters_least() {
    let other = |number: usize| {
        let contract = calendar(&format!("{number} {}", "x".repeat(150)));
        view(Execution::new(contract).start(tool_node()).cancel("why".to_owned(), tool_node()))
    };
    let sent = view(sent(&Store::memory()).await);
    for place in [0, 100, 200] {
        let mut all: Vec<_> = (0..200).map(other).collect();
        all.insert(place, sent.clone());
        let prompt = Prompt::new(&all).to_string();
        assert!(prompt.contains(SENT), "{place}: {prompt}");
        assert!(prompt.contains("199 x") && !prompt.contains(" 0 x"), "{prompt}");
        assert!(prompt.contains("more executions are not shown") && prompt.ends_with(NOTE));
    }
}
