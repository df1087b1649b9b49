//! The cost of operator actions, and the lines that they leave in the log.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{path::Path, sync::Arc};

use serde_json::Map;

use crate::{
    actor::{Actors, Human},
    contract::{Action, Contract, Execution, Gate, ToolSpec},
    effects::error::EffectError,
    operate::{Operator, SendOptions},
    store::{OpenOptions, Operation, Store, memory::Memory},
};
#[cfg(all(feature = "sqlite", feature = "worker"))]
use crate::{
    store::{self, LoadError, Message, Prune},
    worker::Worker,
};

fn actors() -> Actors {
    Actors::issue("office").unwrap()
}

fn ann() -> Human {
    Human::new("ann").unwrap()
}

async fn asked(store: &Store, actors: &Actors) -> Gate {
    let email = ToolSpec::irreversible("email", "send").unwrap();
    let mail = Contract::tool_call(&email, r#"{"to": "bob"}"#, &actors.reasoning_node).unwrap();
    let (mut gate, mut mail) = mail.ask::<Action>(None, &actors.ecs_node).unwrap();
    store.ask(&mut gate, &mut mail).await.unwrap();
    gate
}

async fn log(store: &Store) -> Vec<Operation> {
    let page = store.operations(100, None).await.unwrap();
    page.items.into_iter().map(Result::unwrap).collect()
}

/// The number of transactions in a write-ahead log, each of which is one fsync: the frames that end
/// one say how large the database is then.
fn transactions(file: &Path) -> usize {
    let wal = std::fs::read(file.with_extension("db-wal")).unwrap();
    let page = u32::from_be_bytes(wal[8..12].try_into().unwrap()) as usize;
    let salts = &wal[16..24];
    let frames = wal[32..].chunks_exact(24 + page);
    let of_this_log = frames.take_while(|frame| frame[8..16] == *salts);
    of_this_log.filter(|frame| frame[4..8] != [0; 4]).count()
}

/// A reader that stays: until it is dropped, no checkpoint empties the log.
#[cfg(feature = "sqlite")]
fn keeps_the_log(file: &Path) -> rusqlite::Connection {
    let reader = rusqlite::Connection::open(file).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    reader.query_row("SELECT count(*) FROM instance", [], |_| Ok(())).unwrap();
    reader
}

#[test]
fn an_approval_loads_its_gate_once() {
    pollster::block_on(async {
        let options = OpenOptions::new();
        let memory = Arc::new(Memory::new(options.settings()));
        let store = options.store(Arc::<Memory>::clone(&memory), None, false);
        let (actors, ann) = (actors(), ann());
        let gate = asked(&store, &actors).await.id();
        let operator = Operator::new(&store, &actors, &ann, "office");
        memory.uses();
        let gates = operator.gates("approve", &[gate]).await.unwrap();
        let shown = |gate: Gate| {
            let digest = gate.whole_question().map(|whole| whole.digest);
            (gate, digest)
        };
        operator.approve(gates.into_iter().map(shown).collect()).await.unwrap();
        let (read, batches) = memory.uses();
        assert_eq!(read.iter().filter(|id| **id == gate).count(), 1, "{read:?}");
        assert_eq!(batches, 1);
    });
}

#[cfg(feature = "sqlite")]
#[test]
fn an_approval_is_one_transaction_with_its_line_of_the_operator_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    pollster::block_on(async {
        let store = Store::sqlite(&file).await.unwrap();
        let (actors, ann) = (actors(), ann());
        let _reader = keeps_the_log(&file);
        for through_operator in [false, true] {
            let gate = asked(&store, &actors).await;
            let (id, shown) = (gate.id(), store.gate(gate.id()).await.unwrap());
            let digest = shown.whole_question().unwrap().digest;
            let before = transactions(&file);
            if through_operator {
                let operator = Operator::new(&store, &actors, &ann, "office");
                operator.approve(vec![(shown, Some(digest))]).await.unwrap();
            } else {
                store.approve(shown, digest, &ann).await.unwrap();
            }
            assert_eq!(transactions(&file) - before, 1);
            let line = log(&store).await.swap_remove(0);
            let via = if through_operator { "office" } else { "program" };
            assert_eq!(
                (&*line.via, &*line.operation, &*line.machines),
                (via, "approve", &[id][..])
            );
            assert_eq!(line.outcome.as_deref(), Some("done"));
            // Each action is asked about only once.
            drop(store.withdraw(asked(&store, &actors).await, "no", &actors.graph_runner).await);
        }
    });
}

/// A machine of a program, which takes its events from people.
#[crate::machine(durable)]
#[derive(serde::Serialize, serde::Deserialize)]
enum Parcel {
    #[initial]
    #[stable]
    #[on(ship => Shipped, by = Human)]
    #[on(cancel => Lost, by = Human)]
    Packed,
    #[terminal]
    Shipped,
    #[terminal]
    Lost,
}

/// Acts on one machine: each is made on a fresh machine, and is one batch.
#[cfg(all(feature = "sqlite", feature = "worker"))]
#[test]
fn an_act_on_one_machine_is_one_transaction_with_its_line_of_the_operator_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let store = Store::sqlite(&file).await.unwrap();
        let (actors, ann) = (actors(), ann());
        let _reader = keeps_the_log(&file);
        let operator = Operator::new(&store, &actors, &ann, "office");
        let own = async || {
            let mut parcel = Parcel::new();
            store.create(&mut parcel).await.unwrap();
            parcel.id()
        };
        let question = async || {
            let asked = Contract::ecs_request("Which port?", &actors.reasoning_node).unwrap();
            let running = Execution::new(asked).start(&actors.ecs_node);
            let mut waiting = running.suspend("Which port?".to_owned(), &actors.ecs_node);
            store.create(&mut waiting).await.unwrap();
            waiting.id()
        };
        for act in ["gate", "pending", "question", "own", "send", "requeue"] {
            let id = match act {
                "gate" => asked(&store, &actors).await.id(),
                "pending" => asked(&store, &actors).await.approval().execution(),
                "question" => question().await,
                _ => own().await,
            };
            if act == "requeue" {
                let message = Message::from_json("{}", &ann).unwrap();
                store.send(id, &message.with_correlation("form").unwrap()).await.unwrap();
                let worker =
                    Worker::new(&store, Actors::issue("shop").unwrap()).machine::<AnyParcel>();
                worker.run_until_idle().await.unwrap();
            }
            let before = transactions(&file);
            match act {
                "send" => {
                    let options = SendOptions::default();
                    drop(operator.send(id, "ship", Map::new(), options).await.unwrap());
                }
                "requeue" => operator.requeue(&[id], &["form".to_owned()]).await.unwrap(),
                _ => drop(operator.cancel(&[id], Some("not needed")).await.unwrap()),
            }
            assert_eq!(transactions(&file) - before, 1, "{act}");
            let operation = if matches!(act, "send" | "requeue") { act } else { "cancel" };
            let line = log(&store).await.swap_remove(0);
            assert_eq!((&*line.operation, &*line.machines), (operation, &[id][..]), "{act}");
            assert_eq!(line.outcome.as_deref(), Some("done"), "{act}");
        }
    });
}

/// What is done to each machine is logged by the batch that does it, because a crash can come in
/// between.
#[test]
fn an_act_on_several_machines_has_a_line_for_each() {
    pollster::block_on(async {
        let options = OpenOptions::new();
        let memory = Arc::new(Memory::new(options.settings()));
        let store = options.store(Arc::<Memory>::clone(&memory), None, false);
        let (actors, ann) = (actors(), ann());
        let ids = [asked(&store, &actors).await.id(), asked(&store, &actors).await.id()];
        memory.uses();
        Operator::new(&store, &actors, &ann, "office").cancel(&ids, None).await.unwrap();
        assert_eq!(memory.uses().1, 2);
        let log = log(&store).await;
        let lines: Vec<_> =
            log.iter().map(|line| (&*line.machines, line.outcome.as_deref())).collect();
        assert_eq!(lines, [(&ids[1..], Some("done")), (&ids[..1], Some("done"))]);
    });
}

/// A message that the machine has is refused, as a whole: no line says that it was sent.
#[test]
fn a_message_that_is_sent_twice_is_one_line_that_is_done() {
    pollster::block_on(async {
        let (store, actors, ann) = (Store::memory(), actors(), ann());
        let mut parcel = Parcel::new();
        store.create(&mut parcel).await.unwrap();
        let operator = Operator::new(&store, &actors, &ann, "office");
        let (id, correlation) = (parcel.id(), || Some("form".to_owned()));
        let options = || SendOptions { correlation: correlation(), ..SendOptions::default() };
        let send = async || operator.send(id, "ship", Map::new(), options()).await;
        send().await.unwrap();
        let refused = send().await.unwrap_err().to_string();
        assert!(refused.contains("nothing was sent"), "{refused}");
        let outcomes: Vec<_> =
            log(&store).await.into_iter().map(|it| it.outcome.unwrap()).collect();
        assert_eq!(outcomes, [format!("refused: {refused}"), "done".to_owned()]);
    });
}

#[test]
fn a_refusal_is_one_line() {
    pollster::block_on(async {
        let (store, actors, ann) = (Store::memory(), actors(), ann());
        let id = asked(&store, &actors).await.id();
        let [first, second] = [store.gate(id).await.unwrap(), store.gate(id).await.unwrap()];
        drop(store.decline(first, "wrong address", &ann).await.unwrap());
        let refused = store.decline(second, "too late", &ann).await.unwrap_err();
        assert!(matches!(refused.reason, EffectError::AlreadyDecided { .. }), "{refused:?}");
        let log = log(&store).await;
        let outcomes: Vec<_> = log.iter().map(|line| line.outcome.clone().unwrap()).collect();
        assert_eq!(outcomes, [format!("refused: {}", refused.reason), "done".to_owned()]);
        assert_eq!(log[1].detail, "wrong address");
    });
}

/// What a program does for a person through the store leaves the same line as through an operator.
#[cfg(all(feature = "sqlite", feature = "worker"))]
#[test]
fn a_message_and_a_pruning_of_a_person_are_logged() {
    pollster::block_on(async {
        let (store, ann) = (Store::memory(), ann());
        let (mut parcel, mut other) = (Parcel::new(), Parcel::new());
        store.create(&mut parcel).await.unwrap();
        store.create(&mut other).await.unwrap();
        let id = parcel.id();
        let ship = Message::from_json(r#"{"trigger": "ship"}"#, &ann).unwrap();
        let ship = ship.with_correlation("form-17").unwrap();
        let cancel = Message::from_json(r#"{"trigger": "cancel"}"#, &ann).unwrap();
        let cancel = cancel.with_correlation("form-17").unwrap();
        let newest = async || {
            let line = log(&store).await.swap_remove(0);
            (line.via, line.operation, line.machines, line.detail, line.outcome.unwrap())
        };
        let line = |operation: &str, machines, detail: &str, outcome: String| {
            let texts = ["program", operation, detail].map(str::to_owned);
            let [via, operation, detail] = texts;
            (via, operation, machines, detail, outcome)
        };
        let count = async || log(&store).await.len();

        assert_eq!(store.send(id, &ship).await.unwrap(), store::Sent::Queued);
        assert_eq!(newest().await, line("send", vec![id], "ship", "done".to_owned()));
        assert_eq!(store.send(id, &ship).await.unwrap(), store::Sent::Duplicate);
        assert_eq!(count().await, 1);
        let refused = store.send(id, &cancel).await.unwrap_err();
        let outcome = format!("refused: {refused}");
        assert_eq!(newest().await, line("send", vec![id], "cancel", outcome));

        // A program is not a person.
        let actors = actors();
        let audit = Message::from_json(r#"{"trigger": "audit"}"#, &actors.graph_runner).unwrap();
        store.send(id, &audit).await.unwrap();
        assert_eq!(count().await, 2);

        // A message to a machine that has ended is kept, set aside.
        let ended = other.ship(&ann);
        let of = ended.id();
        store.commit(&mut { ended }).await.unwrap();
        let refused = store.send(of, &ship).await.unwrap_err();
        let outcome = format!("refused: {refused}");
        assert_eq!(newest().await, line("send", vec![of], "ship", outcome));
        assert_eq!(store.inbox(of).await.unwrap().len(), 1);

        // The newest machine is kept.
        store.create(&mut Parcel::new()).await.unwrap();
        let all = Prune::ended_for(std::time::Duration::ZERO);
        assert_eq!(store.prune(&all, &ann).await.unwrap().machines, 1);
        let outcome = "done: 1 machine with 2 entries".to_owned();
        assert_eq!(newest().await, line("prune", Vec::new(), "", outcome));
        // Its beginning has a line, too.
        assert_eq!(count().await, 5);
        let gone = store.load::<AnyParcel>(of).await;
        assert!(matches!(gone, Err(LoadError::NotFound { .. } | LoadError::Pruned { .. })));
        assert!(store.load::<AnyParcel>(id).await.is_ok());
    });
}
