//! EX-9, EX-14: the branches of the worked example.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use machine::{
    actor::Human,
    clock::{Clock, Millis},
    contract::AnyExecution,
    store::OpenOptions,
    view::{ExecutionTrace, Label, transitions},
};
use mailin::{Response, response};

use crate::{
    server::Step,
    world::{World, printed},
};

/// EX-14 as written, with the trace of EX-11 step by step.
#[test]
fn approved_and_sent() {
    let world = World::new();
    let (gate, mail) = world.ask();
    assert!(matches!(world.load(gate), AnyExecution::Waiting(_)));
    assert!(matches!(world.load(mail), AnyExecution::Pending(_)));
    assert_eq!(world.server.received(), 0);

    let printed = world.ok(&format!("approve --yes {gate} --as ann"));
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

    // Nothing is left to do, and people see neither names nor keys.
    assert_eq!(world.ok("status"), "");
    let all = world.ok("status --all");
    assert!(all.contains("running -> completed (tool)"), "{all}");
    let key = sent.context().idempotency_key().unwrap().to_string();
    for hidden in ["ann", "mailer", &key, key.rsplit(':').next().unwrap()] {
        assert!(!all.contains(hidden), "{hidden}: {all}");
    }
}

/// EX-9: if the confirmation is refused, the action never runs, and it is too late to approve.
#[test]
fn declined_and_never_sent() {
    let world = World::new();
    let (gate, mail) = world.ask();
    world.ok(&format!("decline {gate} --as ann --reason wrong-address"));

    let AnyExecution::Rejected(rejected) = world.load(gate) else { panic!("not rejected") };
    assert_eq!(rejected.state().reason, "wrong-address");
    let AnyExecution::Cancelled(cancelled) = world.load(mail) else { panic!("not cancelled") };
    assert_eq!(cancelled.state().reason, "wrong-address");
    let told = world.fails(&format!("approve --yes {gate} --as tom"));
    assert!(told.contains("was declined by ann"), "{told}");
    for command in [format!("send {mail}"), format!("retry {mail} --as tom")] {
        let told = world.fails(&command);
        assert!(told.contains("is CANCELLED"), "{told}");
    }
    assert_eq!(world.ok("status"), "");
    assert_eq!(world.server.received(), 0);
}

/// The same for a question that nobody needs to answer, and for one that nobody answered in time.
#[test]
fn withdrawn_or_expired_and_never_sent() {
    let world = World::new();
    let (withdrawn, first) = world.ask();
    world.ok(&format!("withdraw {withdrawn}"));
    let (expired, second) = world.ask_for("--to eve@example.com --expires 50ms");
    std::thread::sleep(Duration::from_millis(50));
    for gate in [withdrawn, expired] {
        let told = world.fails(&format!("approve --yes {gate} --as ann"));
        assert!(told.contains("it is CANCELLED"), "{told}");
    }
    for id in [withdrawn, first, expired, second] {
        assert_eq!(world.label(id), Label::Cancelled);
    }
    // The key is free: the mail can be asked for again.
    let (gate, _) = world.ask();
    world.ok(&format!("approve --yes {gate} --as ann"));
    assert_eq!(world.server.received(), 1);
}

/// A clock that stands still.
#[derive(Debug)]
struct Stopped(Millis);

impl Clock for Stopped {
    fn now(&self) -> Millis {
        self.0
    }
}

/// An approval that was not used in time sends nothing, and the mail can be ended.
#[test]
fn approved_and_used_too_late() {
    let world = World::new();
    let (gate, mail) = world.ask_for("--to bob@example.com --expires 1s");
    // In its last millisecond it is approved, by a process that is killed after that.
    let expires_at = world.list().iter().find_map(|line| line.due_at).unwrap();
    let in_time = OpenOptions::new().clock(Stopped(expires_at - 1));
    let (store, ann) = (world.store(), Human::new("ann").unwrap());
    let in_time = store.wait(in_time.sqlite(world.db())).unwrap();
    let question = store.wait(in_time.gate(gate)).unwrap();
    store.wait(in_time.approve(question, &ann)).unwrap();
    while machine::clock::now() <= expires_at {
        std::thread::sleep(Duration::from_millis(10));
    }
    let told = world.fails(&format!("send {mail}"));
    assert!(told.contains(&format!("the approval {gate} of {mail} expired")), "{told}");
    let status = world.ok("status");
    assert!(status.contains(&format!("next: send {mail}, or cancel {mail}")), "{status}");
    world.ok(&format!("cancel {mail}"));
    assert_eq!(world.ok("status"), "");
    assert_eq!(world.server.received(), 0);
}

/// Refuses the first mail with a custom response.
fn greylisting() -> impl Fn(Step<'_>) -> Response + Send + Sync {
    let refused = AtomicBool::new(false);
    move |step| match step {
        Step::Recipient(_) if !refused.swap(true, Ordering::SeqCst) => {
            Response::custom(450, "4.7.1 greylisted, come back later".to_owned())
        }
        _ => response::OK,
    }
}

/// EX-5, EX-14: FAILED with the server's response; a retry is a new contract with the same key.
#[test]
fn refused_and_retried() {
    let world = World::with(greylisting());
    let (gate, mail) = world.ask();
    let error = world.fails(&format!("approve --yes {gate} --as ann"));
    assert!(error.contains(&format!("retry {mail} --as NAME")), "{error}");
    assert!(world.ok("status").contains(&format!("next: retry {mail} --as NAME")));
    let AnyExecution::Failed(failed) = world.load(mail) else { panic!("not failed") };
    assert!(failed.state().error.contains("4.7.1 greylisted, come back later"));
    assert_eq!(world.server.received(), 0);

    world.ok(&format!("retry {mail} --as tom"));
    let again = world.list().into_iter().next_back().unwrap().id;
    let AnyExecution::Completed(sent) = world.load(again) else { panic!("not completed") };
    assert_eq!(sent.context().retry_of(), Some(mail));
    assert_eq!(sent.context().idempotency_key(), failed.context().idempotency_key());
    assert!(matches!(world.load(mail), AnyExecution::Failed(_)));
    assert_eq!(world.server.received(), 1);

    // A completed action is not repeated, whichever command asks for it.
    let error = world.fails(&format!("retry {mail} --as tom"));
    assert!(error.contains(&format!("{again} has already done what")), "{error}");
    let error = world.fails("ask --to bob@example.com");
    assert!(error.contains(&format!("{again} has already done what")), "{error}");
    assert_eq!(world.ok("status"), "");
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
    command.args(["approve", "--yes", "--as", "ann", &gate.to_string(), "--db"]).arg(world.db());
    let output = command.args(["--smtp", &free.to_string()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(printed(&output).contains("[FAILED (human-confirmed)]"), "{}", printed(&output));
    let AnyExecution::Failed(failed) = world.load(mail) else { panic!("not failed") };
    assert_eq!(failed.state().error, "SMTP connection refused");
}

/// Without `--smtp`, a server on loopback stores the mail next to the database.
#[test]
fn embedded_server_keeps_the_mail() {
    let world = World::new();
    let (gate, mail) = world.ask();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_send_email"));
    command.args(["approve", "--yes", "--as", "ann", &gate.to_string(), "--db"]).arg(world.db());
    assert!(command.output().unwrap().status.success());
    let kept = std::fs::read_to_string(world.folder.path().join("agent.mails/0001.eml")).unwrap();
    assert!(kept.contains("To: bob@example.com"), "{kept}");
    let key = world.load(mail).context().idempotency_key().unwrap().to_string();
    let digest = key.rsplit(':').next().unwrap();
    assert!(kept.contains(&format!("Message-ID: <{digest}@agent.example>")), "{kept}");
    assert_eq!(transitions(&world.history(mail)).len(), 2);
}

/// The whole story, started like in the README.
#[test]
fn the_story_runs() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_send_email")).output().unwrap();
    let told = printed(&output);
    assert!(output.status.success(), "{told}");
    for part in [
        "was approved by ann; it needs no further answer",
        "nobody answered in time",
        "5.7.1 no mail from agents today",
        "the process that made the call ended before it recorded an answer",
        "is IN_DOUBT; `status` shows",
        "is alive and may still do it; wait until it has ended, or override by name",
        "[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → frank@example.com",
        "(mails that the server has: 4)",
    ] {
        assert!(told.contains(part), "the story does not tell `{part}`:\n{told}");
    }
}
