//! A file with a letter, and everything that a worker can change of it.

use std::{path::PathBuf, time::Duration};

use machine::{
    Id,
    contract::AnyExecution,
    journal::{Entry, Fact},
    store::{Child, Message, OpenOptions, Query, Received, Store},
};
use machine_tests::actors::ann;

use crate::worker::process::{AnyLetter, AnySlip, Letter, Orders, Slip, letter, until};

/// Short, so that others can take over soon.
pub(super) const LEASE: Duration = Duration::from_millis(300);

pub(super) struct Office {
    _folder: tempfile::TempDir,
    pub(super) file: PathBuf,
    pub(super) store: Store,
    pub(super) letter: Id,
    pub(super) archive: Id,
}

/// All that is stored.
#[derive(Debug, PartialEq)]
pub(super) struct Everything {
    version: u64,
    letter: Vec<Entry>,
    pub(super) children: Vec<Child>,
    pub(super) inbox: Vec<Received>,
    pub(super) archive: Vec<Received>,
    /// Of all machines.
    pub(super) entries: i64,
    pub(super) slips: Vec<String>,
}

impl Office {
    /// With a letter that is signed as soon as it is written.
    pub(super) async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent.db");
        let options = OpenOptions::new()
            .machine::<AnyLetter>()
            .machine::<AnySlip>()
            .machine::<AnyExecution>();
        let store = options.sqlite(&file).await.unwrap();
        let (mut letter, mut archive) = (Letter::new(), Slip::new("the archive".to_owned()));
        store.batch().create(&mut letter).create(&mut archive).write().await.unwrap();
        let sign = Message::new(&letter::Event::Sign, ann()).unwrap();
        let sign = sign.with_correlation("signature").unwrap();
        store.send(letter.id(), &sign).await.unwrap();
        let (letter, archive) = (letter.id(), archive.id());
        Self { _folder: folder, file, store, letter, archive }
    }

    pub(super) fn orders(&self, name: &str) -> Orders {
        Orders { archive: Some(self.archive), lease: LEASE, ..Orders::new(name, &self.file) }
    }

    pub(super) async fn wait_until_filed(&self) {
        until("the letter is filed", || async {
            let letter: AnyLetter = self.store.load(self.letter).await.unwrap();
            letter.status() == letter::Status::Filed
        })
        .await;
    }

    pub(super) async fn everything(&self) -> Everything {
        let history = self.store.history(self.letter).await.unwrap();
        let letter: AnyLetter = self.store.load(self.letter).await.unwrap();
        let raw = rusqlite::Connection::open(&self.file).unwrap();
        let entries = raw.query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).unwrap();
        Everything {
            version: letter.journal().version(),
            letter: history.entries,
            children: self.store.children(self.letter).await.unwrap(),
            inbox: self.inbox(self.letter).await,
            archive: self.inbox(self.archive).await,
            entries,
            slips: self.slips().await,
        }
    }

    async fn inbox(&self, id: Id) -> Vec<Received> {
        let inbox = self.store.inbox(id).await.unwrap();
        inbox.into_iter().map(Result::unwrap).collect()
    }

    /// The authors of the slips.
    async fn slips(&self) -> Vec<String> {
        let page = self.store.load_all::<AnySlip>(&Query::new().machine("slip")).await.unwrap();
        let mut slips: Vec<String> = page
            .items
            .into_iter()
            .map(|slip| match slip.unwrap() {
                AnySlip::Kept(slip) => slip.state().by.clone(),
                AnySlip::Torn(_) => "torn".to_owned(),
            })
            .collect();
        slips.sort();
        slips
    }

    /// The triggers of the letter's transitions.
    pub(super) async fn moves(&self) -> Vec<String> {
        let history = self.store.history(self.letter).await.unwrap();
        let trigger = |entry: &Entry| match &entry.fact {
            Fact::Moved { trigger, .. } => Some(trigger.to_string()),
            _ => None,
        };
        history.entries.iter().filter_map(trigger).collect()
    }

    pub(super) async fn assert_intact(&self) {
        let report = self.store.verify_all(|_| {}).await.unwrap();
        assert!(report.is_clean(), "{report:?}");
        let set_aside = self.store.set_aside().await.unwrap();
        assert!(set_aside.machines.is_empty(), "{set_aside:?}");
    }
}
