//! A file with machines of several kinds and states, and copies of it to edit.

use machine_tests::actors::{self, reasoning_node, tool_node};
use std::{path::PathBuf, time::Duration};

use machine::{
    Id,
    actor::GraphRunner,
    contract::{Contract, Execution},
    machine,
    store::{OpenOptions, Store},
};
use machine_tests::samples::{Ticket, ask, mail};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::store::{
    forger::{Derived, derived},
    support::{Place, applied, drop_triggers, not_applied},
};

/// A machine of the user's with a deadline.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Lamp {
    #[initial]
    #[on(light => On)]
    Off,
    #[on(quench => Off)]
    #[on(burn_out => Broken, by = GraphRunner, after = Duration::from_hours(1))]
    On,
    #[terminal]
    Broken,
}

/// The machines, in the order in which they are created, so that they are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    /// A mail that was sent.
    Ann,
    /// A mail whose permit is unanswered and whose worker is gone.
    Bob,
    /// A mail that was provably not sent.
    Carl,
    /// A question without an answer.
    Question,
    /// The confirmation that the next one waits for.
    Gate,
    /// A mail behind a confirmation.
    Dora,
    Lamp,
    Ticket,
    /// Another mail that was sent.
    Eve,
}

use Who::{Ann, Bob, Carl, Dora, Eve, Gate, Question};

pub(super) const ALL: [Who; 9] =
    [Ann, Bob, Carl, Question, Gate, Dora, Who::Lamp, Who::Ticket, Eve];

impl Who {
    pub(super) fn number(self) -> usize {
        self as usize + 1
    }

    pub(super) fn name(self) -> &'static str {
        ["ann", "bob", "carl", "question", "gate", "dora", "lamp", "ticket", "eve"][self as usize]
    }

    /// A contract with the same key.
    pub(super) fn same_action(self) -> Option<Contract> {
        matches!(self, Ann | Bob | Carl | Dora | Eve).then(|| mail(self.name()))
    }
}

/// The bytes of a closed file.
pub(super) struct Sample {
    pub(super) ids: Vec<Id>,
    /// Values that follow from the rest of the file without a key.
    pub(super) derived: Derived,
    bytes: Vec<u8>,
    options: OpenOptions,
}

/// A copy of the sample.
pub(super) struct Copied<'a> {
    pub(super) sample: &'a Sample,
    folder: TempDir,
}

impl Sample {
    pub(super) async fn new(key: Option<[u8; 32]>) -> Self {
        let mut options = OpenOptions::new();
        if let Some(key) = key {
            options = options.key(key);
        }
        let place = Place::with(options.clone()).await;
        let ids = fill(&place, true).await;
        let other = Place::with(options.clone()).await;
        fill(&other, false).await;
        other.store.close().await.unwrap();
        place.store.close().await.unwrap();
        let raw = place.raw();
        raw.execute("ATTACH ?1 AS other", [other.file().to_str().unwrap()]).unwrap();
        keep(&raw, "other", "other.");
        drop_triggers(&raw);
        // Without a log next to it.
        raw.execute_batch("DETACH other; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let derived = derived(&raw, None).unwrap();
        raw.close().unwrap();
        let bytes = std::fs::read(place.file()).unwrap();
        Self { ids, derived, bytes, options }
    }

    pub(super) fn copy(&self) -> Copied<'_> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("agent.db"), &self.bytes).unwrap();
        Copied { sample: self, folder }
    }
}

impl Copied<'_> {
    fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    pub(super) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }

    pub(super) async fn open(&self) -> Result<Store, machine::store::OpenError> {
        self.sample.options.sqlite(self.file()).await
    }
}

/// Keeps a copy of all rows as they are now, for edits that bring them back.
fn keep(raw: &rusqlite::Connection, name: &str, from: &str) {
    for table in ["instance", "context", "journal", "attempt"] {
        let sql = format!("CREATE TABLE {name}_{table} AS SELECT * FROM {from}{table}");
        raw.execute(&sql, []).unwrap();
    }
}

/// Creates the machines; with `old`, keeps a copy of the rows from before their last moves.
async fn fill(place: &Place, old: bool) -> Vec<Id> {
    let store = &place.store;
    let mut mails = [Ann, Bob, Carl].map(|who| {
        let contract = mail(who.name()).session("s1").timeout_after(Duration::from_hours(1));
        Execution::new(contract)
    });
    for mail in &mut mails {
        store.create(mail).await.unwrap();
    }
    let [ann, bob, carl] = mails;
    let contract = Contract::ecs_request("Deploy?", reasoning_node()).unwrap().session("s1");
    let mut question = Execution::new(contract);
    store.create(&mut question).await.unwrap();
    let (gate, dora) = place.asked(mail("dora")).await;
    let (mut lamp, mut ticket) = (Lamp::new(), Ticket::new());
    store.create(&mut lamp).await.unwrap();
    store.create(&mut ticket).await.unwrap();
    let mut eve = Execution::new(mail("eve"));
    store.create(&mut eve).await.unwrap();
    let ids = [ann.id(), bob.id(), carl.id(), question.id(), gate.id(), dora.id()];
    let ids = [&ids[..], &[lamp.id(), ticket.id(), eve.id()]].concat();

    let (ann, to_ann) = store.begin(ann, tool_node()).await.unwrap();
    let (carl, to_carl) = store.begin(carl, tool_node()).await.unwrap();
    let mut lamp = lamp.light().quench();
    store.commit(&mut lamp).await.unwrap();
    if old {
        keep(&place.raw(), "old", "");
    }
    let outcome = applied(to_ann, "250 queued").await;
    let _ = store.settle(ann, outcome, tool_node()).await.unwrap();
    let (_bob, permit) = store.begin(bob, tool_node()).await.unwrap();
    drop(permit);
    let outcome = not_applied(to_carl, "connection refused").await;
    let _ = store.settle(carl, outcome, tool_node()).await.unwrap();
    let mut question = ask(question);
    store.commit(&mut question).await.unwrap();
    let mut lamp = lamp.light();
    store.commit(&mut lamp).await.unwrap();
    let mut ticket = ticket.park();
    store.commit(&mut ticket).await.unwrap();
    let (eve, to_eve) = store.begin(eve, tool_node()).await.unwrap();
    let outcome = applied(to_eve, "250 queued").await;
    let _ = store.settle(eve, outcome, tool_node()).await.unwrap();
    // The gate's answer is at the end of the file.
    let _ = machine_tests::approve(store, gate, actors::ann()).await.unwrap();
    ids
}
