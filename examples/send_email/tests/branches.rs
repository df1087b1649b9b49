//! EX-9, EX-14: the branches of the worked example.

use std::sync::atomic::{AtomicBool, Ordering};

use machine::{
    contract::AnyExecution,
    view::{ExecutionTrace, transitions},
};
use mailin::{Response, response};

use crate::{server::Policy, world::World};

/// EX-14 as written, with the trace of EX-11 step by step.
#[test]
fn approved_and_sent() {
    let world = World::new();
    let (gate, mail) = world.ask();
    assert!(matches!(world.load(gate), AnyExecution::Waiting(_)));
    assert!(matches!(world.load(mail), AnyExecution::Pending(_)));
    assert_eq!(world.server.received(), 0);

    let printed = world.ok(&["approve", "--yes", &gate.to_string()]);
    assert!(
        printed
            .contains("[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → bob@example.com"),
        "{printed}"
    );
    assert_eq!(world.server.received(), 1);

    let (sent, answered) = (world.load(mail), world.load(gate));
    let trace = ExecutionTrace::of(
        &[(sent.context(), world.history(mail)), (answered.context(), world.history(gate))],
        50,
    );
    let mut steps: Vec<(String, String)> =
        trace.steps.into_iter().map(|step| (step.node_id, step.action)).collect();
    // Both contracts are created at the same time; their order is not guaranteed.
    steps[..2].sort_by_key(|(_, action)| action.contains(&gate.to_string()));
    let expected = [
        ("reasoning", format!("create_contract:{mail}")),
        ("reasoning", format!("create_contract:{gate}")),
        ("ecs_node", format!("transition:{gate}:pending->running")),
        ("ecs_node", format!("transition:{gate}:running->waiting")),
        ("graph_runner", format!("transition:{gate}:waiting->running")),
        ("graph_runner", format!("transition:{gate}:running->completed")),
        ("tool_node", format!("transition:{mail}:pending->running")),
        ("tool_node", format!("transition:{mail}:running->completed")),
    ];
    let expected: Vec<_> =
        expected.into_iter().map(|(node, action)| (node.to_owned(), action)).collect();
    assert_eq!(steps, expected);
}

/// EX-9: if the confirmation is refused, the action never runs, and it is too late to approve.
#[test]
fn rejected_and_never_sent() {
    let world = World::new();
    let (gate, mail) = world.ask();
    world.ok(&["reject", &gate.to_string(), "--reason", "wrong address"]);

    let AnyExecution::Rejected(rejected) = world.load(gate) else { panic!("not rejected") };
    assert_eq!(rejected.state().reason, "wrong address");
    assert!(matches!(world.load(mail), AnyExecution::Pending(_)));
    let error = world.fails(&["approve", "--yes", &gate.to_string()]);
    assert!(error.contains("REJECTED, not WAITING; REJECTED is terminal"), "{error}");
    let status = world.ok(&["status"]);
    assert!(status.contains("it never runs"), "{status}");
    assert_eq!(world.server.received(), 0);
}

/// Refuses the first mail with a custom response.
struct NotYet(AtomicBool);

impl Policy for NotYet {
    fn recipient(&self, _to: &str) -> Response {
        if self.0.swap(true, Ordering::SeqCst) {
            return response::OK;
        }
        Response::custom(450, "4.7.1 greylisted, come back later".to_owned())
    }
}

/// EX-5, EX-14: FAILED with the server's response; a retry is a new contract with the same key.
#[test]
fn refused_and_retried() {
    let world = World::with(NotYet(AtomicBool::new(false)));
    let (gate, mail) = world.ask();
    let error = world.fails(&["approve", "--yes", &gate.to_string()]);
    assert!(error.contains(&format!("retry --db FILE {mail}")), "{error}");
    let AnyExecution::Failed(failed) = world.load(mail) else { panic!("not failed") };
    assert!(failed.state().error.contains("4.7.1 greylisted, come back later"));
    assert_eq!(world.server.received(), 0);

    world.ok(&["retry", &mail.to_string()]);
    let again = world.list().into_iter().next_back().unwrap().id;
    let AnyExecution::Completed(sent) = world.load(again) else { panic!("not completed") };
    assert_eq!(sent.context().retry_of(), Some(mail));
    assert_eq!(sent.context().idempotency_key(), failed.context().idempotency_key());
    assert!(matches!(world.load(mail), AnyExecution::Failed(_)));
    assert_eq!(world.server.received(), 1);

    // A completed action is not repeated, whichever command asks for it.
    let error = world.fails(&["retry", &mail.to_string()]);
    assert!(error.contains(&format!("{again} has already done what")), "{error}");
    let error = world.fails(&["ask", "--to", "bob@example.com"]);
    assert!(error.contains(&format!("{again} has already done what")), "{error}");
    assert_eq!(world.server.received(), 1);
}

/// EX-14: a refused connection proves that nothing was sent.
#[test]
fn connection_refused() {
    let world = World::new();
    let (gate, mail) = world.ask();
    // A port that was free a moment ago, so no one listens on it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_send_email"));
    command.args(["approve", "--yes", &gate.to_string(), "--smtp", &free.to_string(), "--db"]);
    assert!(!command.arg(world.db()).output().unwrap().status.success());
    let AnyExecution::Failed(failed) = world.load(mail) else { panic!("not failed") };
    assert_eq!(failed.state().error, "SMTP connection refused");
}

/// Without `--smtp`, a server on loopback stores the mail next to the database.
#[test]
fn embedded_server_keeps_the_mail() {
    let world = World::new();
    let (_, mail) = world.ask();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_send_email"));
    let output = command.args(["approve", "--yes", "--db"]).arg(world.db()).output().unwrap();
    assert!(output.status.success());
    let kept = std::fs::read_to_string(world.folder.path().join("agent.mails/0001.eml")).unwrap();
    assert!(kept.contains("To: bob@example.com"), "{kept}");
    let key = world.load(mail).context().idempotency_key().unwrap().to_string();
    let digest = key.rsplit(':').next().unwrap();
    assert!(kept.contains(&format!("Message-ID: <{digest}@agent.example>")), "{kept}");
    assert_eq!(transitions(&world.history(mail)).len(), 2);
}

/// The whole demo, started like in the README.
#[test]
fn the_demo_runs() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_send_email")).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    for part in
        ["signal: 9", "IN DOUBT", "5.7.1 no mail from agents today", "(the server has received 3"]
    {
        assert!(told.contains(part), "the demo does not print `{part}`:\n{told}");
    }
}
