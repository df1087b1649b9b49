//! A file with a letter and an archive, and everything that a worker can change of it.

use std::path::PathBuf;

use machine::{
    Id,
    contract::AnyExecution,
    journal::{Entry, Fact},
    store::{Child, Message, OpenOptions, Query, Received, Store},
};
use machine_tests::{actors::ann, stores::new_file};

use super::{AnyLetter, AnySlip, Letter, Member, Orders, Slip, letter};
use crate::{
    effects::tool::Teller,
    worker::prelude::{inbox, until},
};

pub(crate) struct Office {
    _folder: tempfile::TempDir,
    pub(crate) file: PathBuf,
    pub(crate) store: Store,
    pub(crate) letter: Id,
    pub(crate) archive: Id,
}

/// All that is stored.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    version: u64,
    letter: Vec<Entry>,
    pub(crate) children: Vec<Child>,
    pub(crate) inbox: Vec<Received>,
    pub(crate) archive: Vec<Received>,
    /// Of all machines.
    pub(crate) entries: i64,
    pub(crate) slips: Vec<String>,
}

impl Office {
    pub(crate) async fn open() -> Self {
        let (folder, file) = new_file();
        let options = OpenOptions::new()
            .machine::<AnyLetter>()
            .machine::<AnySlip>()
            .machine::<AnyExecution>();
        let store = options.sqlite(&file).await.unwrap();
        let (mut letter, mut archive) = (Letter::new(), Slip::new("the archive".to_owned()));
        store.batch().create(&mut letter).create(&mut archive).write().await.unwrap();
        let (letter, archive) = (letter.id(), archive.id());
        Self { _folder: folder, file, store, letter, archive }
    }

    /// Ann signs the letter, as soon as it is written.
    pub(crate) async fn sign(&self) {
        let sign = Message::new(&letter::Event::Sign, ann()).unwrap();
        self.store.send(self.letter, &sign).await.unwrap();
    }

    pub(crate) fn orders(&self, name: &str) -> Orders {
        Orders { archive: Some(self.archive), ..Orders::new(name, &self.file) }
    }

    /// For a worker that pays, and drives no letters.
    pub(crate) fn pays(&self, name: &str, teller: Teller) -> Orders {
        Orders { teller: Some(teller), ..self.orders(name) }
    }

    /// A worker that is in the handler of SIGNED.
    pub(crate) async fn in_the_handler(&self, orders: Orders) -> Member {
        self.sign().await;
        let mut member = orders.start();
        assert_eq!(member.process.hear::<String>(), "in the handler");
        member
    }

    pub(crate) async fn wait_until(&self, status: letter::Status) {
        until(&format!("the letter is {status}"), async || {
            self.store.load::<AnyLetter>(self.letter).await.unwrap().status() == status
        })
        .await;
    }

    pub(crate) async fn everything(&self) -> Everything {
        let history = self.store.history(self.letter).await.unwrap();
        let letter: AnyLetter = self.store.load(self.letter).await.unwrap();
        let raw = rusqlite::Connection::open(&self.file).unwrap();
        let entries = raw.query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).unwrap();
        Everything {
            version: letter.journal().version(),
            letter: history.entries,
            children: self.store.children(self.letter).await.unwrap(),
            inbox: inbox(&self.store, self.letter).await,
            archive: inbox(&self.store, self.archive).await,
            entries,
            slips: self.slips().await,
        }
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
    pub(crate) async fn moves(&self) -> Vec<String> {
        let history = self.store.history(self.letter).await.unwrap();
        let trigger = |entry: &Entry| match &entry.fact {
            Fact::Moved { trigger, .. } => Some(trigger.to_string()),
            _ => None,
        };
        history.entries.iter().filter_map(trigger).collect()
    }

    pub(crate) async fn assert_intact(&self) {
        machine_tests::stores::assert_intact(&self.store).await;
        let set_aside = self.store.set_aside().await.unwrap();
        assert!(set_aside.machines.is_empty(), "{set_aside:?}");
    }
}
