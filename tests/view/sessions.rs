//! `Observer::session` on sessions that are read in several parts, on machines that move meanwhile,
//! and on journals that were changed by hand (OB-4).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use machine::contract::execution::Running;

use crate::view::{
    prelude::*,
    shop::{Shop, purchase},
};

const SESSION: &str = "long";

fn running(path: &str) -> Execution<Running> {
    Execution::new(read(path).session(SESSION)).start(tool_node())
}

/// There and back, this often.
fn paused(mut running: Execution<Running>, times: usize) -> Execution<Running> {
    for _ in 0..times {
        running = running.suspend("which one?".to_owned(), ecs_node()).resume(graph_runner());
    }
    running
}

/// More executions than are read at once, some of which have long journals, among other machines.
async fn fill(store: &Store) {
    for hundred in 0..6 {
        let machines = (0..100).map(|number| {
            let machine = running(&format!("{hundred}/{number}.txt"));
            paused(machine, if number % 20 == 0 { 120 } else { number % 3 })
        });
        let mut machines: Vec<_> = machines.collect();
        let mut batch = store.batch();
        for machine in &mut machines {
            batch = batch.create(machine);
        }
        batch.write().await.unwrap();
        store.create(&mut Shop::new(purchase(SESSION))).await.unwrap();
        let mut other = Execution::new(read("other.txt").session("other")).start(tool_node());
        store.create(&mut other).await.unwrap();
    }
}

/// A long session equals the one computed from memory, however many reads it takes.
#[tokio::test]
async fn a_long_session_is_complete() {
    let place = still().await;
    let store = &place.store;
    fill(store).await;
    let live = live_session::<Diagnostic>(store, SESSION, Language::English).await;
    let lines = live.contracts.len() + live.transitions.len();
    assert!(live.contracts.len() == 600 && lines > 8192, "{lines} lines are read at once");
    assert!(Observer::new(store).session(SESSION).await.unwrap() == live);
}

/// Each execution is shown as it was at one moment, with exactly the transitions that led there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn executions_that_move_meanwhile_are_shown_whole() {
    let place = still().await;
    let store = &place.store;
    let mut machines: Vec<_> = (0..40).map(|number| running(&number.to_string())).collect();
    for machine in &mut machines {
        store.create(machine).await.unwrap();
    }
    // The loop runs until the session was seen at several moments, however fast either side is.
    let seen = Arc::new(AtomicBool::new(false));
    let (writer, enough) = (store.clone(), Arc::clone(&seen));
    let moving = tokio::spawn(async move {
        for round in 0.. {
            if enough.load(Ordering::Relaxed) {
                break;
            }
            let mut moved = Vec::new();
            for machine in machines {
                let mut machine = paused(machine, 1 + round % 2);
                writer.commit(&mut machine).await.unwrap();
                moved.push(machine);
            }
            machines = moved;
        }
    });
    let mut lengths = BTreeSet::new();
    while lengths.len() < 5 && !moving.is_finished() {
        let timeline = Observer::new(store).session::<Human>(SESSION).await.unwrap();
        check(&timeline);
        lengths.insert(timeline.transitions.len());
    }
    seen.store(true, Ordering::Relaxed);
    moving.await.unwrap();
    assert_eq!(lengths.len(), 5);
}

fn check(timeline: &ExecutionTimeline<Human>) {
    assert_eq!((timeline.total_contracts, timeline.unreadable), (40, 0));
    let mut of: BTreeMap<Id, Vec<_>> = BTreeMap::new();
    for step in &timeline.transitions {
        of.entry(step.execution_id).or_default().push(step);
    }
    for contract in &timeline.contracts {
        let steps = &of[&contract.execution_id];
        assert_eq!(steps.len() as u64, contract.transition_count);
        assert!(steps.iter().enumerate().all(|(at, step)| step.sequence_number == at));
        assert_eq!(steps.last().unwrap().to_status, contract.current_status);
    }
}

/// An error in one journal is reported, and hides nothing else.
#[tokio::test]
async fn a_changed_journal_is_named() {
    let changes = [
        ("UPDATE journal SET at = at + 1", "entry 2 of its journal was changed"),
        ("UPDATE journal SET kind = 3", "entry 2 of its journal was changed"),
        ("UPDATE journal SET kind = 9", "its column `kind` is unknown"),
        ("UPDATE journal SET actor = 'tool_node'", "entry 2 of its journal was changed"),
        ("UPDATE journal SET body = NULL", "entry 2 of its journal was changed"),
        ("DELETE FROM journal", "entry 2 of its journal is missing"),
    ];
    for (change, reason) in changes {
        let place = Place::new().await;
        let mut ids = Vec::new();
        for path in ["1.txt", "2.txt", "3.txt"] {
            // It has five transitions.
            ids.push(place.created(paused(running(path), 2)).await.id());
        }
        let sql = format!("{change} WHERE number = 2 AND instance = ?2");
        assert_eq!(place.edit(&sql, ids[1]), 1, "{change}");
        let timeline = Observer::new(&place.store).session::<Internal>(SESSION).await.unwrap();
        let shown: Vec<Id> = timeline.contracts.iter().map(|it| it.execution_id).collect();
        assert_eq!(shown, [ids[0], ids[2]], "{change}");
        assert_eq!(
            (timeline.total_contracts, timeline.transitions.len(), timeline.unreadable),
            (2, 2 * 5, 1)
        );
        assert!(timeline.transitions.iter().all(|step| step.execution_id != ids[1]), "{change}");
        let [error] = &timeline.errors[..] else { panic!("{:?}", timeline.errors) };
        assert_eq!(*error, format!("{}: {reason}", ids[1]), "{change}");
    }
}
