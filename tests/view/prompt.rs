//! The exact text of the prompt (OB-8, EX-14).

use machine::{
    contract::{Action, AnyExecution, Contract, Execution, NotDone, Settled, ToolSpec},
    store::Store,
    view::{ConsequenceView, Prompt},
};
use machine_tests::actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node};
use machine_tests::samples::{answers, mail, receipt};

/// The end of a section, before the note.
const GO_ON: &str = "\n\nContinue with the user's request on the basis of the results above.";

const NOTE: &str =
    "Note: actions marked ⚠️ IRREVERSIBLE have taken effect and cannot be taken back.";

async fn sent() -> AnyExecution {
    let store = Store::memory();
    let (mut gate, mut mail) = mail("bob@example.com").ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut mail).await.unwrap();
    machine_tests::approve(&store, gate, ann()).await.unwrap();
    match store.perform(mail, receipt("邮件已发送"), tool_node()).await.unwrap() {
        Settled::Completed(done) => done.into(),
        other => panic!("{other:?}"),
    }
}

fn failed() -> AnyExecution {
    let tool = ToolSpec::idempotent("calendar", "create").unwrap();
    let contract = Contract::tool_call(&tool, "{}", reasoning_node()).unwrap().about("会议邀请");
    Execution::new(contract)
        .start(tool_node())
        .fail("SMTP connection refused".to_owned(), tool_node())
        .into()
}

/// The two lines of OB-8, and the note.
#[tokio::test]
async fn the_lines_are_exact() {
    let views = [&sent().await, &failed()].map(ConsequenceView::of);
    assert_eq!(
        Prompt::new(&views).to_string(),
        format!(
            "Tool results:\n\n\
             [SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → bob@example.com: 邮件已发送\n\
             [FAILED] calendar.create → 会议邀请: SMTP connection refused{GO_ON}\n{NOTE}"
        )
    );
}

/// The note appears only if there was an irreversible effect.
#[test]
fn the_note_is_there_when_it_is_needed() {
    assert_eq!(
        Prompt::new(&[ConsequenceView::of(&failed())]).to_string(),
        format!(
            "Tool results:\n\n[FAILED] calendar.create → 会议邀请: SMTP connection refused{GO_ON}"
        )
    );
    assert_eq!(Prompt::new(&[]).to_string(), "");
}

/// Effects are the last to be left out, however many others there are and whatever they say;
/// of those the newest are shown.
#[tokio::test]
async fn a_limit_leaves_out_what_matters_least() {
    let tool = ToolSpec::idempotent("calendar", "create").unwrap();
    let other = |number: usize| -> AnyExecution {
        let about = format!("{number} {}", "x".repeat(150));
        let contract = Contract::tool_call(&tool, "{}", reasoning_node()).unwrap().about(&about);
        Execution::new(contract).start(tool_node()).cancel("why".to_owned(), tool_node()).into()
    };
    let sent = sent().await;
    for place in [0, 100, 200] {
        let mut all: Vec<_> = (0..200).map(|number| ConsequenceView::of(&other(number))).collect();
        all.insert(place, ConsequenceView::of(&sent));
        let prompt = Prompt::new(&all).to_string();
        assert!(
            prompt.contains("[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)]"),
            "{place}: {prompt}"
        );
        assert!(prompt.contains("199 x"), "{prompt}");
        assert!(!prompt.contains(" 0 x"), "{prompt}");
        assert!(prompt.contains("more executions are not shown") && prompt.ends_with(NOTE));
    }
}

/// EX-14, the failure branch: the mail was confirmed and failed.
#[tokio::test]
async fn a_failed_mail_has_no_effect() {
    let store = Store::memory();
    let mut pending = Execution::new(mail("bob@example.com"));
    store.create(&mut pending).await.unwrap();
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let refused = answers(Err(NotDone::not_applied("SMTP connection refused")));
    let outcome = permit.call(refused).await;
    let Settled::Failed(failed) = store.settle(running, outcome, tool_node()).await.unwrap() else {
        panic!("it was refused");
    };
    assert_eq!(
        Prompt::new(&[ConsequenceView::of(&failed.into())]).to_string(),
        format!(
            "Tool results:\n\n[FAILED] email.send → bob@example.com: SMTP connection refused{GO_ON}"
        )
    );
}

/// An execution is shown as confirmed only if a person confirmed it.
#[tokio::test]
async fn unanswered_is_not_confirmed() {
    let store = Store::memory();
    let line = async |id| {
        let execution: AnyExecution = store.load(id).await.unwrap();
        ConsequenceView::of(&execution).to_string()
    };
    let (mut gate, mut planned) = mail("bob").ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    assert_eq!(line(planned.id()).await, "[DEFERRED] email.send → bob");
    assert_eq!(line(gate.id()).await, "[WAITING] approve email.send → bob");
    let id = gate.id();
    drop(store.withdraw(gate, "not needed", graph_runner()).await.unwrap());
    assert_eq!(line(id).await, "[CANCELLED] approve email.send → bob: not needed");
    let ended = line(planned.id()).await;
    assert_eq!(ended, "[CANCELLED] email.send → bob: not approved: not needed");
}

/// The two ends of a gate, and of the action behind it.
#[tokio::test]
async fn an_answer_is_shown() {
    let store = Store::memory();
    let line = async |id| {
        let execution: AnyExecution = store.load(id).await.unwrap();
        ConsequenceView::of(&execution).to_string()
    };
    let (mut gate, mut planned) = mail("bob").ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let (id, action) = (gate.id(), planned.id());
    store.decline(gate, "wrong address\n", ann()).await.unwrap();
    assert_eq!(line(id).await, r"[REJECTED] approve email.send → bob: wrong address\n");
    let expected = r"[CANCELLED] email.send → bob: not approved: wrong address\n";
    assert_eq!(line(action).await, expected);
}
