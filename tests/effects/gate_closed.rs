//! The asker cannot answer its own question: a gate opens by the decision of a person and by nothing
//! else.

use std::path::PathBuf;

use machine::{
    Id,
    contract::{
        AnyExecution, Contract, Execution, Gate, Planned,
        execution::{Event, Waiting},
    },
    effects::Begin,
    store::{CommitError, Store},
    view::Label,
};
use machine_tests::actors::{ann, ecs_node, graph_runner, tool_node};
use serde::{Deserialize, Serialize};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, loaded, name, new_store, view},
    tool::{Pay, Remind, Teller, pay, remind},
    worker::{self, Report},
};
use crate::process::{Process, orders, say};

#[derive(Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    gate: Id,
    behind: Id,
}

/// What an asker tried, and the error that it got.
type Tried = (String, String);

/// The asker, with every actor that a program can have, but no person.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn asker() {
    let Orders { file, gate, behind } = orders();
    let store = Store::sqlite(file).await.unwrap();
    let mut tried: Vec<Tried> = Vec::new();
    let mut got = |what: &str, result: Result<(), CommitError>| {
        tried.push((
            what.to_owned(),
            result.map_or_else(|error| name(&error), |()| "Ok".to_owned()),
        ));
    };
    let waiting = async || store.resume::<Waiting>(gate).await.unwrap();
    let erased = async || store.load::<AnyExecution>(gate).await.unwrap();
    let yes = || "yes".to_owned();

    // A gate that never was WAITING: the contract of a gate, started and ended by the asker.
    let contract: Contract = waiting().await.context().clone();
    let mut opened = Execution::new(contract.clone()).start(ecs_node()).succeed(yes(), ecs_node());
    got("start, succeed", store.create(&mut opened).await);
    let mut opened = Execution::new(contract).start(ecs_node()).succeed(yes(), graph_runner());
    got("start, succeed as the runner", store.batch().create(&mut opened).write().await);

    // The gate that waits, resumed and ended by the asker.
    let mut opened = waiting().await.resume(graph_runner()).succeed(yes(), graph_runner());
    got("resume, succeed", store.commit(&mut opened).await);
    let mut opened = waiting().await.resume(graph_runner()).succeed(yes(), ecs_node());
    got("resume, succeed as the asker", store.commit(&mut opened).await);
    got("resume", store.commit(&mut waiting().await.resume(graph_runner())).await);
    let event = Event::Succeed { result: yes() };
    let mut opened = erased().await.apply(Event::Resume, graph_runner()).unwrap();
    opened = opened.apply(event.clone(), tool_node()).unwrap();
    got("erased: resume, succeed", store.commit(&mut opened).await);
    let mut opened = erased().await.apply(Event::Resume, graph_runner()).unwrap();
    got("erased: resume", store.commit(&mut opened).await);

    // Together with the start of what waits for it.
    let mut opened = erased().await.apply(Event::Resume, graph_runner()).unwrap();
    opened = opened.apply(event, graph_runner()).unwrap();
    let planned: Planned<Pay> = loaded(&store, behind).await;
    let mut begin = Begin::new(planned, tool_node());
    got("with begin", store.batch().commit(&mut opened).begin(&mut begin).write().await);
    say(&tried);
}

async fn assert_all_refused(store: &Store, file: PathBuf, gate: Id, behind: Id) {
    let mut asker = Process::start("effects::gate_closed::asker", &Orders { file, gate, behind });
    let tried: Vec<Tried> = asker.hear();
    asker.join();
    assert_eq!(tried.len(), 8);
    for (what, got) in tried {
        assert_eq!(got, "Refused", "{what}");
    }
    assert_eq!(view(store, gate).await.consequence_label, Label::Waiting);
    assert_eq!(view(store, behind).await.consequence_label, Label::Deferred);
    assert!(!view(store, gate).await.human_confirmed);
}

#[tokio::test]
async fn the_asker_cannot_open_its_gate() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let (mut gate, mut planned) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    assert_all_refused(&store, file.clone(), gate.id(), planned.id()).await;
    let report = worker::run("pays", &file, planned.id(), Teller::pays(&bank));
    assert_eq!(report, Report::NotBegun("Deferred".to_owned()));
    assert_eq!(bank.count(), 0);

    // A person can still answer it, and only that shows as human-confirmed.
    let _ =
        machine_tests::approve(&store, store.gate(gate.id()).await.unwrap(), ann()).await.unwrap();
    let report = worker::run("pays", &file, planned.id(), Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    let view = view(&store, planned.id()).await;
    assert_eq!(view.to_string(), "[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] bank.pay: receipt 1");
    assert_intact(&store).await;
}

/// A gate that is not stored cannot come into the store opened, and without it nothing runs.
#[tokio::test]
async fn a_gate_that_never_waited_is_no_gate() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let (gate, mut planned) = remind("bob").ask::<Remind>(None, ecs_node()).unwrap();
    let opened = |gate: &Gate| {
        let contract = gate.execution().context().clone();
        Execution::new(contract).start(ecs_node()).succeed("yes".to_owned(), ecs_node())
    };
    let refused = store.create(&mut opened(&gate)).await.unwrap_err();
    assert!(matches!(refused, CommitError::Refused { .. }), "{refused}");
    let both = store.batch().create(&mut opened(&gate)).create(planned.machine()).write().await;
    assert!(matches!(both, Err(CommitError::Refused { .. })), "{both:?}");

    // Without its gate.
    store.batch().create(planned.machine()).write().await.unwrap();
    let report = worker::run("reminds", &file, planned.id(), Teller::pays(&bank));
    assert_eq!(report, Report::NotBegun("NotFound".to_owned()));
    assert_eq!(bank.count(), 0);
}

/// What needs no permit can be started without `begin`, but not past its gate.
#[tokio::test]
async fn an_idempotent_action_does_not_start_past_its_gate() {
    let (_folder, _, store) = new_store().await;
    let ask = || remind("bob").ask::<Remind>(None, ecs_node()).unwrap();
    let (mut gate, mut planned) = ask();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let mut running = planned.start(tool_node());
    let refused = store.commit(&mut running).await.unwrap_err();
    assert!(matches!(refused, CommitError::Deferred { .. }), "{refused}");
    let mut done = running.succeed("done".to_owned(), tool_node());
    let refused = store.commit(&mut done).await.unwrap_err();
    assert!(matches!(refused, CommitError::Deferred { .. }), "{refused}");

    let (mut gate, planned) = ask();
    let mut running = planned.start(tool_node());
    let both = store.batch().create(gate.machine()).create(&mut running).write().await;
    assert!(matches!(both, Err(CommitError::Deferred { .. })), "{both:?}");
}

/// Another execution that the asker completed does not pass for a gate.
#[tokio::test]
async fn a_plain_question_is_no_gate() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let (gate, mut planned) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
    store.batch().create(planned.machine()).write().await.unwrap();
    // Its id is that of the gate only if its contract is; this one waits under an id of its own.
    let question =
        Contract::ecs_request(gate.question(), machine_tests::actors::reasoning_node()).unwrap();
    let mut answered =
        Execution::new(question).start(ecs_node()).succeed("yes".to_owned(), ecs_node());
    store.create(&mut answered).await.unwrap();
    assert_ne!(answered.id(), gate.id());
    assert!(store.gate(answered.id()).await.is_err());
    let report = worker::run("pays", &file, planned.id(), Teller::pays(&bank));
    assert_eq!(report, Report::NotBegun("NotFound".to_owned()));
    assert_eq!(bank.count(), 0);
}
