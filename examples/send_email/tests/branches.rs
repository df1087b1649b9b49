//! EX-9, EX-14: the branches of the worked example.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
};

use machine::{
    contract::AnyExecution,
    view::{ExecutionTrace, Human, Label, transitions},
};
use mailin::{Response, response};
use tempfile::TempDir;

use crate::{
    mail::NotSent,
    server::{SmtpServer, Step},
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

    // The approval is on disk; the worker sends the mail.
    let printed = world.ok(&format!("approve --yes {gate} --as anneliese"));
    assert!(printed.contains(&format!("approved: a worker runs {mail}")), "{printed}");
    let shown = world.show(mail);
    assert!(shown.contains(&format!("cancel {mail} --as NAME")), "{shown}");
    assert!(matches!(world.load(mail), AnyExecution::Pending(_)));
    assert_eq!(world.server.received(), 0);
    let printed = world.work();
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
        trace.steps.clone().into_iter().map(|step| (step.node_id, step.action)).collect();
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

    // Nothing is left to do. People see who decided, and neither names of programs nor keys.
    assert!(!world.attention().contains(&mail.to_string()[28..]));
    let all = [
        world.ok("list"),
        world.show(gate),
        world.show(mail),
        world.ok(&format!("timeline {mail}")),
    ];
    let all = all.concat();
    assert!(all.contains("RUNNING → COMPLETED (succeed)"), "{all}");
    let key = sent.context().idempotency_key().unwrap().to_string();
    assert!(all.contains("anneliese"), "{all}");
    for hidden in ["mailer", &key, key.rsplit(':').next().unwrap()] {
        assert!(!all.contains(hidden), "{hidden}: {all}");
    }
}

/// EX-9: if the confirmation is refused, the action never runs, and it is too late to approve.
#[test]
fn declined_and_never_sent() {
    let world = World::new();
    let (gate, mail) = world.ask();
    world.ok(&format!("decline {gate} --yes --as ann --reason wrong-address"));

    let AnyExecution::Rejected(rejected) = world.load(gate) else { panic!("not rejected") };
    assert_eq!(rejected.state().reason, "wrong-address");
    // It ends with its gate, without a worker.
    let AnyExecution::Cancelled(cancelled) = world.load(mail) else { panic!("not cancelled") };
    assert_eq!(cancelled.state().reason, "not approved: wrong-address");
    let told = world.fails(&format!("approve --yes {gate} --as tom"));
    assert!(told.contains("was declined by ann"), "{told}");
    for command in [format!("cancel {mail} --as tom"), format!("retry {mail} --as tom --yes")] {
        let told = world.fails(&command);
        assert!(told.contains("is CANCELLED"), "{told}");
    }
    world.work();
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
    world.ok(&format!("approve --yes {gate} --as ann"));
    let printed = world.work();
    assert!(printed.contains(&format!("retry {mail} --as NAME")), "{printed}");
    // A worker does not decide on a retry.
    world.work();
    assert!(world.show(mail).contains(&format!("retry {mail} --as NAME")));
    let AnyExecution::Failed(failed) = world.load(mail) else { panic!("not failed") };
    assert!(failed.state().error.contains("4.7.1 greylisted, come back later"));
    let Some(NotSent::Smtp(said)) = world.refusal(mail) else { panic!("{}", world.show(mail)) };
    assert!(said.contains("4.7.1"), "{said}");
    assert_eq!(world.server.received(), 0);

    world.ok(&format!("retry {mail} --as tom --yes"));
    let again = world.list().into_iter().next_back().unwrap().id;
    assert_eq!(world.label(again), Label::NotStarted);
    world.work();
    let AnyExecution::Completed(sent) = world.load(again) else { panic!("not completed") };
    assert_eq!(sent.context().retry_of(), Some(mail));
    assert_eq!(sent.context().idempotency_key(), failed.context().idempotency_key());
    assert!(matches!(world.load(mail), AnyExecution::Failed(_)));
    assert_eq!(world.server.received(), 1);

    // A completed action is not repeated, whichever command asks for it.
    let error = world.fails(&format!("retry {mail} --as tom --yes"));
    assert!(error.contains(&format!("{again} has already performed this action")), "{error}");
    let error = world.fails("ask --to bob@example.com");
    assert!(error.contains(&format!("{again} has already performed the action of")), "{error}");
    assert_eq!(world.server.received(), 1);
}

/// EX-14: a refused connection proves that nothing was sent.
#[test]
fn connection_refused() {
    let world = World::new();
    let (gate, mail) = world.ask();
    // A port that was free a moment ago, so no one listens on it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.ok(&format!("approve --yes {gate} --as ann"));
    let mut worker = std::process::Command::new(env!("CARGO_BIN_EXE_send_email"));
    worker.args(["work", "--once", "--db"]).arg(world.db());
    let output = worker.args(["--smtp", &free.to_string()]).output().unwrap();
    // The mail failed, the worker did not.
    assert_eq!(output.status.code(), Some(0));
    assert!(printed(&output).contains("[FAILED]"), "{}", printed(&output));
    let AnyExecution::Failed(failed) = world.load(mail) else { panic!("not failed") };
    assert_eq!(failed.state().error, "SMTP connection refused");
    assert_eq!(world.refusal(mail), Some(NotSent::ConnectionRefused));
    assert!(world.show(mail).contains("\"connection_refused\""), "{}", world.show(mail));
}

/// Without `--smtp`, a server on loopback stores the mail next to the database.
#[test]
fn embedded_server_keeps_the_mail() {
    let world = World::new();
    let (gate, mail) = world.ask();
    world.ok(&format!("approve --yes {gate} --as ann"));
    let mut worker = std::process::Command::new(env!("CARGO_BIN_EXE_send_email"));
    worker.args(["work", "--once", "--db"]).arg(world.db());
    assert!(worker.output().unwrap().status.success());
    let kept = std::fs::read_to_string(world.folder.path().join("agent.mails/0001.eml")).unwrap();
    assert!(kept.contains("To: bob@example.com"), "{kept}");
    let key = world.load(mail).context().idempotency_key().unwrap().to_string();
    let digest = key.rsplit(':').next().unwrap();
    assert!(kept.contains(&format!("Message-ID: <{digest}@agent.example>")), "{kept}");
    assert_eq!(transitions::<Human>(&world.history(mail)).len(), 2);
}

/// The servers of two workers, on one folder: no mail takes the place of another.
#[test]
fn servers_share_a_folder() {
    let folder = TempDir::new().unwrap();
    let start = || SmtpServer::start(folder.path(), |_| response::OK).unwrap();
    let (first, second) = (start(), start());
    let texts = ["one", "two", "three"];
    for (server, text) in [&first, &second, &first].into_iter().zip(texts) {
        deliver(server, text).unwrap();
    }
    for (number, text) in (1..).zip(texts) {
        let file = folder.path().join(format!("{number:04}.eml"));
        let kept = std::fs::read_to_string(file).unwrap();
        assert!(kept.contains(text), "{number}: {kept}");
    }
}

fn deliver(server: &SmtpServer, text: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect(server.address())?;
    let mut answers = BufReader::new(stream.try_clone()?).lines();
    let mail = format!("{text}\r\n.");
    let head = ["HELO test.example", "MAIL FROM:<a@test.example>", "RCPT TO:<b@test.example>"];
    for command in head.into_iter().chain(["DATA", mail.as_str()]) {
        let answer = answers.next().unwrap()?;
        assert!(answer.starts_with(['2', '3']), "{answer}");
        stream.write_all(format!("{command}\r\n").as_bytes())?;
    }
    let answer = answers.next().unwrap()?;
    assert!(answer.starts_with("250"), "{answer}");
    Ok(())
}
