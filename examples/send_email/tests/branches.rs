//! EX-9, EX-14: the branches of the worked example.

use std::time::Duration;

use machine::{
    contract::AnyExecution,
    observe::ConcernReason,
    operate::Finding,
    store::Query,
    testing::{Reply, TestTool},
    view::{Human, Label},
};
use mailin::response;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    desk::{BOB, Desk, parse},
    invite::{AnyInvitation, invite},
    mail::{NotSent, SendMail, Smtp},
    server::{SmtpServer, Step},
    world::World,
};

/// The server takes the mail.
fn sent() -> Reply<String, NotSent> {
    Reply::applied("250 OK")
}

/// EX-14 as written, with the trace of EX-11 step by step.
#[tokio::test(start_paused = true)]
async fn approved_and_sent() {
    let server = TestTool::new().replies(sent());
    let desk = Desk::new(&server);
    let (gate, mail) = desk.ask(BOB).await.unwrap();
    desk.kit.assert_label(gate, Label::Waiting).await;
    desk.kit.assert_label(mail, Label::Deferred).await;
    desk.approve(gate).await;
    // The approval is in the store; the worker sends the mail.
    desk.kit.assert_label(mail, Label::NotStarted).await;
    assert!(desk.next(mail).await.contains(&format!("cancel {mail} --as NAME")));
    assert!(server.calls().is_empty());
    desk.kit.run_until_idle().await;
    let line = "[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → bob@example.com";
    desk.shows(mail, Label::Success, line).await;
    assert_eq!(server.calls().len(), 1);

    let mut steps = desk.trace(gate).await;
    steps.extend(desk.trace(mail).await);
    let expected = [
        format!("reasoning create_contract:{gate}"),
        format!("ecs_node transition:{gate}:pending->running"),
        format!("ecs_node transition:{gate}:running->waiting"),
        format!("graph_runner transition:{gate}:waiting->running"),
        format!("graph_runner transition:{gate}:running->completed"),
        format!("reasoning create_contract:{mail}"),
        format!("tool_node transition:{mail}:pending->running"),
        format!("tool_node transition:{mail}:running->completed"),
    ];
    assert_eq!(steps, expected);

    // Nothing is left to do. People see who decided, and neither names of programs nor keys.
    desk.kit.assert_attention(&[]).await;
    let observer = desk.kit.observer();
    let question = observer.detail::<Human>(gate).await.unwrap();
    let detail = observer.detail::<Human>(mail).await.unwrap();
    let timeline = observer.timeline::<Human>(mail).await.unwrap();
    let seen = json!([question, detail, timeline]).to_string();
    let sent = desk.kit.load::<AnyExecution>(mail).await;
    let key = sent.context().idempotency_key().unwrap().to_string();
    assert!(seen.contains("\"ann\""), "{seen}");
    for hidden in ["\"mailer\"", "\"test\"", &key, key.rsplit(':').next().unwrap()] {
        assert!(!seen.contains(hidden), "{hidden}: {seen}");
    }
}

/// EX-9: if the confirmation is refused, the action never runs, and it is too late to approve.
#[tokio::test(start_paused = true)]
async fn declined_and_never_sent() {
    let server = TestTool::new();
    let desk = Desk::new(&server);
    let (gate, mail) = desk.ask(BOB).await.unwrap();
    desk.decline(gate, "wrong address").await;

    desk.shows(gate, Label::Rejected, "wrong address").await;
    // It ends with its gate, without a worker.
    desk.shows(mail, Label::Cancelled, "declined by ann: wrong address").await;
    let error = desk.ann().gates("approve", &[gate]).await.unwrap_err();
    assert!(error.to_string().contains("was declined by ann"), "{error}");
    let cancel = desk.ann().cancel(&[mail], None).await.unwrap_err();
    for error in [cancel, desk.ann().retry(mail).await.unwrap_err()] {
        assert!(error.to_string().contains("is CANCELLED"), "{error}");
    }
    desk.kit.run_until_idle().await;
    assert!(server.calls().is_empty());
}

/// A question that is not answered in time ends with its mail, and no other does.
#[tokio::test(start_paused = true)]
async fn not_answered_in_time() {
    let desk = Desk::new(&TestTool::new());
    let (gate, mail) = desk.ask("--to eve@example.com --expires 1h").await.unwrap();
    let (_, waits) = desk.ask(BOB).await.unwrap();
    desk.kit.advance(Duration::from_mins(61)).await;
    desk.kit.run_until_idle().await;
    for id in [gate, mail] {
        desk.shows(id, Label::Cancelled, "not answered in time").await;
    }
    desk.kit.assert_label(waits, Label::Deferred).await;
}

/// EX-5, EX-14: FAILED with the server's response; a retry is a new contract with the same key.
#[tokio::test(start_paused = true)]
async fn refused_and_retried() {
    let greylisted = NotSent::Smtp("4.7.1 greylisted, come back later".to_owned());
    let refusal = json!(greylisted);
    let server = TestTool::new().replies(Reply::Refused(greylisted)).replies(sent());
    let desk = Desk::new(&server);
    let mail = desk.approved(BOB).await;
    // A worker does not decide on a retry.
    desk.kit.run_until_idle().await;
    assert!(desk.next(mail).await.contains(&format!("retry {mail} --as NAME")));
    desk.shows(mail, Label::Failed, "SMTP 4.7.1 greylisted, come back later").await;
    assert_eq!(desk.kit.consequence(mail).await.refusal, Some(refusal));
    assert_eq!(server.calls().len(), 1);

    let again = desk.ann().retry(mail).await.unwrap();
    desk.kit.assert_label(again, Label::NotStarted).await;
    desk.kit.run_until_idle().await;
    desk.shows(mail, Label::Failed, "greylisted").await;
    desk.shows(again, Label::Success, "250 OK").await;
    let first = desk.kit.load::<AnyExecution>(mail).await;
    let second = desk.kit.load::<AnyExecution>(again).await;
    assert_eq!(second.context().retry_of(), Some(mail));
    assert_eq!(second.context().idempotency_key(), first.context().idempotency_key());

    // A completed action is not repeated, whichever command asks for it.
    let error = desk.ann().retry(mail).await.unwrap_err().to_string();
    assert!(error.contains(&format!("{again} has already performed this action")), "{error}");
    let error = format!("{:#}", desk.ask(BOB).await.unwrap_err());
    assert!(error.contains(&format!("{again} has already performed the action of")), "{error}");
    assert_eq!(server.calls().len(), 2);
}

/// Time parks, and never frees: a receipt that is late counts when it arrives.
#[tokio::test(start_paused = true)]
async fn its_receipt_is_late_and_counts() {
    let server = TestTool::new().replies(sent().after(Duration::from_hours(1)));
    let desk = Desk::new(&server);
    let mail = desk.approved("--to bob@example.com --timeout 10s").await;
    desk.kit.assert_attention(&[(mail, ConcernReason::InDoubt)]).await;
    let next = desk.next(mail).await;
    assert!(next.contains(&format!("confirm {mail} applied --as NAME")), "{next:?}");
    // It would be refused.
    assert!(!next.contains(&format!("confirm {mail} not-applied --as NAME")), "{next:?}");
    let error = desk.ann().in_doubt(mail, Finding::NotApplied(None)).await.unwrap_err();
    assert!(error.to_string().contains("may still be running in process "), "{error}");
    // Nor does it help to ask for the same mail again.
    let other = desk.approved(BOB).await;
    desk.kit.assert_label(other, Label::NotStarted).await;
    desk.kit.assert_label(mail, Label::InDoubt).await;
    // The receipt ends the mail that is no longer needed, too.
    for _ in 0..3 {
        desk.kit.advance(Duration::from_mins(30)).await;
        desk.kit.run_until_idle().await;
    }
    desk.kit.assert_label(mail, Label::Success).await;
    let why = format!("{mail} has already performed it");
    desk.shows(other, Label::Cancelled, &why).await;
    assert_eq!(server.calls().len(), 1);
}

/// The workflow that asks about each mail: one guest is invited, one is not, and the server refuses
/// the mail to one.
#[tokio::test(start_paused = true)]
async fn invited_and_not_invited() {
    let server =
        TestTool::new().replies(sent()).replies(Reply::refused(NotSent::ConnectionRefused));
    let desk = Desk::new(&server);
    let guests = "--guest bob@example.com --guest carol@example.com --guest dan@example.com";
    let guests = parse(guests).unwrap();
    invite(desk.kit.store(), guests).await.unwrap();
    let questions = desk.kit.observer().approvals(&Query::new()).await.unwrap().items;
    assert_eq!(questions.len(), 3, "one batch has the invitation and its questions");
    for question in &questions {
        if question.summary.contains("carol") {
            desk.decline(question.gate, "no").await;
        } else {
            desk.approve(question.gate).await;
        }
    }
    desk.kit.run_until_idle().await;
    // The calls are made in any order, and the server refuses the second one.
    let called: Vec<_> = server.calls().iter().map(|mail| mail.to.to_string()).collect();
    let [taken, refused] = &called[..] else { panic!("{called:?}") };
    for question in &questions {
        let (label, line) = match &question.summary {
            mail if mail.contains("carol") => (Label::Cancelled, "declined by ann: no"),
            mail if mail.contains(taken) => (Label::Success, "250 OK"),
            mail => {
                assert!(mail.contains(refused), "{mail}: {called:?}");
                (Label::Failed, "SMTP connection refused")
            }
        };
        desk.shows(question.execution, label, line).await;
    }
    let all = Query::new();
    let invitations = desk.kit.store().load_all::<AnyInvitation>(&all).await.unwrap().items;
    let [Ok(AnyInvitation::Closed(closed))] = &invitations[..] else { panic!("{invitations:?}") };
    assert_eq!((closed.state().sent, closed.state().not_sent), (1, 2));
}

/// EX-14: a refused connection proves that nothing was sent.
#[tokio::test]
async fn connection_refused() {
    // A port that was free a moment ago, so no one listens on it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let desk =
        Desk::with(move |worker| worker.tool::<SendMail>(Smtp { address: free.to_string() }));
    let mail = desk.approved(BOB).await;
    desk.shows(mail, Label::Failed, "SMTP connection refused").await;
    let refusal = json!(NotSent::ConnectionRefused);
    assert_eq!(desk.kit.consequence(mail).await.refusal, Some(refusal));
}

/// A connection that breaks after the content proves nothing: here the server has the mail.
#[tokio::test]
async fn connection_broken_after_the_content() {
    let folder = TempDir::new().unwrap();
    let server = SmtpServer::start(folder.path(), |step| match step {
        Step::Recipient(_) => response::OK,
        // The thread of the connection ends without an answer, which closes the connection.
        Step::Stored(_) => panic!("the connection breaks"),
    });
    let server = server.unwrap();
    let address = server.address();
    let desk = Desk::with(move |worker| worker.tool::<SendMail>(Smtp { address: address.clone() }));
    let mail = desk.approved(BOB).await;
    desk.kit.assert_label(mail, Label::InDoubt).await;
    assert_eq!(server.received(), 1);
}

/// Without `--smtp`, a server on loopback stores the mail next to the database.
#[test]
fn embedded_server_keeps_the_mail() {
    let world = World::new();
    let mail = world.approved();
    let mut worker = std::process::Command::new(env!("CARGO_BIN_EXE_send_email"));
    worker.args(["work", "--once", "--db"]).arg(world.db());
    assert!(worker.output().unwrap().status.success());
    let kept = std::fs::read_to_string(world.folder.path().join("agent.mails/0001.eml")).unwrap();
    assert!(kept.contains("To: bob@example.com"), "{kept}");
    let key = world.load(mail).context().idempotency_key().unwrap().to_string();
    let digest = key.rsplit(':').next().unwrap();
    assert!(kept.contains(&format!("Message-ID: <{digest}@agent.example>")), "{kept}");
}

/// The servers of two workers, on one folder: no mail takes the place of another.
#[tokio::test]
async fn servers_share_a_folder() {
    let folder = TempDir::new().unwrap();
    let start = || {
        let server = SmtpServer::start(folder.path(), |_| response::OK).unwrap();
        Desk::with(move |worker| worker.tool::<SendMail>(Smtp { address: server.address() }))
    };
    let (first, second) = (start(), start());
    for (number, desk) in (1..).zip([&first, &second, &first]) {
        let mail = desk.approved(&format!("{BOB} --body text-{number}")).await;
        desk.kit.assert_label(mail, Label::Success).await;
    }
    for number in 1..=3 {
        let file = folder.path().join(format!("{number:04}.eml"));
        let kept = std::fs::read_to_string(file).unwrap();
        assert!(kept.contains(&format!("text-{number}")), "{number}: {kept}");
    }
}
