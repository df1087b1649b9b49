//! The answers to a gate: who won, and those that come too late.

use std::{path::PathBuf, time::Duration};

use machine::{
    Id,
    actor::Human,
    contract::{AnyExecution, Contract, Gate, Planned, execution::Status},
    effects::Decide,
    store::{CommitError, LoadError, OpenOptions, Query, Store},
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, tool_node},
    assert_err,
};
use serde::{Deserialize, Serialize};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{Time, new_store, stored},
    tool::{Pay, Teller, pay},
    worker::{self, Report},
};
use crate::process::{Process, orders, say, wait};

const HOUR: Duration = Duration::from_hours(1);

async fn asked(store: &Store, expires: Option<Duration>) -> (Gate, Planned<Pay>) {
    let (mut gate, mut planned) = pay("bob").ask(expires, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    (gate, planned)
}

async fn begin(store: &Store, planned: Planned<Pay>) -> Result<(), CommitError> {
    store.begin(planned, tool_node()).await.map(drop).map_err(|refused| refused.reason)
}

#[derive(Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    gate: Id,
    name: String,
}

/// A person at another terminal: reads the question, and answers when the parent says so.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn approver() {
    let Orders { file, gate, name: who } = orders();
    let store = Store::sqlite(file).await.unwrap();
    let gate = store.gate(gate).await.unwrap();
    say(&gate.question());
    wait();
    let answer = machine_tests::approve(&store, gate, &Human::new(&who).unwrap()).await;
    say(&match answer {
        Ok(_) => Ok(()),
        Err(refused) => match refused.reason {
            CommitError::AlreadyDecided { approved: true, by, .. } => Err(by),
            other => panic!("{other}"),
        },
    });
}

/// Several people approve at once: one of them does, and the others learn who.
#[tokio::test]
async fn the_others_are_told_who_won() {
    let (_folder, file, store) = new_store().await;
    let (gate, planned) = asked(&store, None).await;
    let people = ["ann", "ben", "cem", "dia"];
    let mut terminals = people.map(|name| {
        let orders = Orders { file: file.clone(), gate: gate.id(), name: name.to_owned() };
        Process::start("effects::gate_answers::approver", &orders)
    });
    for terminal in &mut terminals {
        assert_eq!(terminal.hear::<String>(), gate.question());
    }
    terminals.iter_mut().for_each(Process::go);
    let answers = terminals.map(|mut terminal| {
        let answer: Result<(), String> = terminal.hear();
        terminal.join();
        answer
    });
    let winners: Vec<_> = people.iter().zip(&answers).filter(|(_, got)| got.is_ok()).collect();
    let [(winner, _)] = winners[..] else { panic!("{answers:?}") };
    let losers = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert_eq!(losers.map(String::as_str).collect::<Vec<_>>(), [*winner; 3]);

    // A later person gets this error when loading the gate, and cannot answer the next question by accident.
    let loaded = store.gate(gate.id()).await;
    assert_err!(loaded, LoadError::AlreadyDecided { by, approved: true, .. } if by == winner);
    let declined = store.decline(gate, "wrong address", ann()).await;
    assert_err!(
        declined,
        refused if matches!(&refused.reason, CommitError::AlreadyDecided { by, .. } if by == winner)
    );
    let bank = Bank::open(Dedup::Nothing);
    let report = worker::run("pays", &file, planned.id(), Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    let history = store.history(planned.id()).await.unwrap();
    let text = serde_json::to_string(&history.entries).unwrap();
    assert!(text.contains(&format!(r#""approved_by":"{winner}""#)), "{text}");
}

/// An approval that nobody gives in time, and one that nobody uses in time.
#[tokio::test]
async fn an_approval_expires() {
    let folder = tempfile::tempdir().unwrap();
    let time = Time::stopped();
    let options = OpenOptions::new().clock(time.clone());
    let store = options.sqlite(folder.path().join("agent.db")).await.unwrap();
    let (late, behind_late) = asked(&store, Some(HOUR)).await;
    let (unused, behind_unused) = asked(&store, Some(HOUR)).await;
    let late_id = late.id();
    let refused = store.expire(late, graph_runner()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::NotDue { .. }));
    let _ = machine_tests::approve(&store, unused, ann()).await.unwrap();

    time.add(HOUR);
    let refused = machine_tests::approve(&store, refused.machine, ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::GateExpired { .. }));
    let refused = store.decline(refused.machine, "no", ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::GateExpired { .. }));
    assert_err!(begin(&store, behind_unused).await, CommitError::ApprovalExpired { .. });

    // It is due, and ends without an answer.
    let due = store.list(&Query::new().due()).await.unwrap();
    assert_eq!(due.items.iter().flatten().map(|line| line.id).collect::<Vec<_>>(), [late_id]);
    let _ = store.expire(refused.machine, graph_runner()).await.unwrap();
    assert_err!(
        begin(&store, behind_late).await,
        CommitError::NeverRuns { status: Status::Cancelled, .. }
    );
    assert_err!(store.gate(late_id).await, LoadError::NotAGate { .. });
}

#[tokio::test]
async fn what_was_declined_or_withdrawn_never_runs() {
    let (_folder, _, store) = new_store().await;
    let (gate, planned) = asked(&store, None).await;
    let (seen, id) = (store.gate(gate.id()).await.unwrap(), planned.id());
    let _ = store.decline(gate, "wrong address", ann()).await.unwrap();
    let refused = store.begin(planned, tool_node()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::NeverRuns { status: Status::Rejected, .. }));
    let refused = machine_tests::approve(&store, seen, ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::AlreadyDecided { approved: false, .. }));
    // It ended with its gate, without a permit, and its key was never taken.
    let AnyExecution::Cancelled(cancelled) = store.load(id).await.unwrap() else {
        panic!("it was declined")
    };
    assert_eq!(cancelled.state().reason, "not approved: wrong address");
    // Nor does another plan of the same action.
    let again = begin(&store, stored(&store, pay("bob")).await).await;
    assert_err!(again, CommitError::Declined { .. });

    let (gate, planned) = asked(&store, None).await;
    let seen = store.gate(gate.id()).await.unwrap();
    let _ = store.withdraw(gate, "not needed", graph_runner()).await.unwrap();
    let refused = machine_tests::approve(&store, seen, ann()).await.unwrap_err();
    let CommitError::GateEnded { found, .. } = refused.reason else { panic!("{refused}") };
    assert_eq!(found, "CANCELLED (not needed)");
    assert_err!(
        begin(&store, planned).await,
        CommitError::NeverRuns { status: Status::Cancelled, .. }
    );
    let retry = stored::<Pay>(&store, Contract::retry(&cancelled, ann())).await;
    begin(&store, retry).await.unwrap();
}

/// An answer to something else: an unknown gate, an execution, an answered gate, another store's.
#[tokio::test]
async fn what_is_not_a_gate_cannot_be_answered() {
    let (_folder, _, store) = new_store().await;
    let (gate, planned) = asked(&store, None).await;
    let unknown = pay("eve").ask::<Pay>(None, ecs_node()).unwrap().0;
    assert_err!(store.gate(unknown.id()).await, LoadError::NotFound { .. });
    assert_err!(store.gate(planned.id()).await, LoadError::NotAGate { .. });
    let refused = machine_tests::approve(&store, unknown, ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::NeverStored { .. }), "{refused}");
    let elsewhere = Store::memory();
    let refused = machine_tests::approve(&elsewhere, gate, ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::GateChanged { .. }), "{refused}");
    let _ = machine_tests::approve(&store, refused.machine, ann()).await.unwrap();
}

/// What waits behind the gate has gone on without it, or was never there.
#[tokio::test]
async fn a_gate_before_something_else_cannot_be_approved() {
    let (_folder, _, store) = new_store().await;
    let (gate, planned) = asked(&store, None).await;
    let _ = store.cancel(planned.into_execution(), "not needed", tool_node()).await.unwrap();
    let refused = machine_tests::approve(&store, gate, ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::GateEnded { .. }), "{refused}");

    let (mut alone, _) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
    store.batch().create(alone.machine()).write().await.unwrap();
    let refused = machine_tests::approve(&store, alone, ann()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::GateChanged { .. }), "{refused}");
}

/// Several answers in one batch: all of them, or none.
#[tokio::test]
async fn several_gates_are_answered_together() {
    let (_folder, _, store) = new_store().await;
    let (first, behind_first) = asked(&store, None).await;
    let (second, behind_second) = asked(&store, None).await;
    let seen = store.gate(second.id()).await.unwrap();
    let (mut yes, mut no) =
        (machine_tests::approval(first, ann()), Decide::decline(second, "twice", ann()));
    store.batch().decide(&mut yes).decide(&mut no).write().await.unwrap();
    begin(&store, behind_first).await.unwrap();
    assert_err!(begin(&store, behind_second).await, CommitError::NeverRuns { .. });

    let (third, behind_third) = asked(&store, None).await;
    let (mut yes, mut no) =
        (machine_tests::approval(third, ann()), Decide::decline(seen, "no", ann()));
    let refused = store.batch().decide(&mut yes).decide(&mut no).write().await;
    assert_err!(refused, CommitError::AlreadyDecided { by, approved: false, .. } if by == "ann");
    assert_err!(begin(&store, behind_third).await, CommitError::Deferred { .. });
    let _ = machine_tests::approve(&store, yes.finish().unwrap_err(), ann()).await.unwrap();
}
