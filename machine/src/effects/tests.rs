//! The cost of operator actions, and the lines that they leave in the log.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{path::Path, sync::Arc};

use crate::{
    actor::{Actors, Human},
    contract::{Action, Contract, Gate, ToolSpec},
    operate::Operator,
    store::{CommitError, OpenOptions, Operation, Store, memory::Memory},
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

/// The number of transactions in a write-ahead log, each of which is one fsync: the frames that end one say how
/// large the database is then.
fn transactions(file: &Path) -> usize {
    let wal = std::fs::read(file.with_extension("db-wal")).unwrap();
    let page = u32::from_be_bytes(wal[8..12].try_into().unwrap()) as usize;
    let salts = &wal[16..24];
    let frames = wal[32..].chunks_exact(24 + page);
    let of_this_log = frames.take_while(|frame| frame[8..16] == *salts);
    of_this_log.filter(|frame| frame[4..8] != [0; 4]).count()
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

#[test]
fn a_refusal_is_one_line_whoever_calls() {
    pollster::block_on(async {
        let (store, actors, ann) = (Store::memory(), actors(), ann());
        let id = asked(&store, &actors).await.id();
        let [first, second] = [store.gate(id).await.unwrap(), store.gate(id).await.unwrap()];
        drop(store.decline(first, "wrong address", &ann).await.unwrap());
        let refused = store.decline(second, "too late", &ann).await.unwrap_err();
        assert!(matches!(refused.reason, CommitError::AlreadyDecided { .. }), "{refused:?}");
        let log = log(&store).await;
        let outcomes: Vec<_> = log.iter().map(|line| line.outcome.clone().unwrap()).collect();
        assert_eq!(outcomes, [format!("refused: {}", refused.reason), "done".to_owned()]);
        assert_eq!(log[1].detail, "wrong address");
    });
}
