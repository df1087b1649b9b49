//! The exact text of the prompt (OB-8, EX-14).

use machine::{
    actor::{GraphRunner, ReasoningNode, ToolNode},
    contract::{AnyExecution, Applied, Contract, Execution, NotDone, Settled, Tool, defer},
    store::Store,
    view::{ConsequenceView, render},
};
use machine_tests::samples::{ask, mail};

const NOTE: &str =
    "Note: actions marked ⚠️ IRREVERSIBLE have taken effect and cannot be taken back.";

async fn sent() -> AnyExecution {
    let store = Store::memory();
    let (gate, mut mail) = defer(mail("bob@example.com"), "Send it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate).resume(&GraphRunner).succeed("yes".to_owned(), &GraphRunner);
    store.batch().create(&mut gate).create(&mut mail).write().await.unwrap();
    let (running, permit) = store.begin(mail, &ToolNode).await.unwrap();
    let outcome = permit.call(async |_permit| Ok(Applied::new("邮件已发送"))).await;
    match store.settle(running, outcome, &ToolNode).await.unwrap() {
        Settled::Completed(done) => done.into(),
        other => panic!("{other:?}"),
    }
}

fn failed() -> AnyExecution {
    let tool = Tool::idempotent("calendar", "create").unwrap();
    let contract = Contract::tool_call(&tool, "{}", &ReasoningNode).unwrap().about("会议邀请");
    Execution::new(contract)
        .start(&ToolNode)
        .fail("SMTP connection refused".to_owned(), &ToolNode)
        .into()
}

/// The two lines of OB-8, and the note.
#[tokio::test]
async fn the_lines_are_exact() {
    let views = [&sent().await, &failed()].map(ConsequenceView::of);
    assert_eq!(
        render(&views),
        format!(
            "[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → bob@example.com: 邮件已发送\n\
             [FAILED] calendar.create → 会议邀请: SMTP connection refused\n{NOTE}"
        )
    );
}

/// The note appears only if there was an irreversible effect.
#[test]
fn the_note_is_there_when_it_is_needed() {
    assert_eq!(
        render(&[ConsequenceView::of(&failed())]),
        "[FAILED] calendar.create → 会议邀请: SMTP connection refused"
    );
    assert_eq!(render(&[]), "");
}

/// EX-14, the failure branch: the mail was confirmed and failed.
#[tokio::test]
async fn a_failed_mail_has_no_effect() {
    let store = Store::memory();
    let mut pending = Execution::new(mail("bob@example.com"));
    store.create(&mut pending).await.unwrap();
    let (running, permit) = store.begin(pending, &ToolNode).await.unwrap();
    let refused = async |_permit| Err(NotDone::not_applied("SMTP connection refused"));
    let outcome = permit.call(refused).await;
    let Settled::Failed(failed) = store.settle(running, outcome, &ToolNode).await.unwrap() else {
        panic!("it was refused");
    };
    assert_eq!(
        render(&[ConsequenceView::of(&failed.into())]),
        "[FAILED] email.send → bob@example.com: SMTP connection refused"
    );
}

/// An execution is shown as confirmed only if a person confirmed it.
#[test]
fn unanswered_is_not_confirmed() {
    let (gate, mail) = defer(mail("bob"), "Send it?", &ReasoningNode).unwrap();
    let line = |execution: AnyExecution| ConsequenceView::of(&execution).to_string();
    assert_eq!(line(mail.into()), "[NOT_STARTED] email.send → bob");
    let (other, _) = defer(machine_tests::samples::mail("ann"), "?", &ReasoningNode).unwrap();
    assert_eq!(
        line(ask(other).timeout("nobody answered".to_owned(), &GraphRunner).into()),
        "[CANCELLED] confirm email.send → ann: nobody answered"
    );
    assert_eq!(line(ask(gate).into()), "[WAITING] confirm email.send → bob");
}
