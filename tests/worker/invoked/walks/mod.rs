//! Random walks of a machine that pays by entering a state: a person pauses, resumes, approves and
//! declines, also while the bank pays; time passes; and workers are killed at any moment.
//!
//! `MACHINE_INVOKED_WALKS=1000` sets the number of walks, and `TEST_SEED` repeats their choices.

mod bank;
mod check;
mod table;
mod twins;

use std::{collections::BTreeMap, path::PathBuf};

use machine::{clock::Clock, store::SendError};
use machine_tests::random::{Random, setting};
use tempfile::TempDir;

use self::{
    bank::{Bank, Line},
    check::Counts,
    table::{AnyTour, Event, Pay, Tour},
};
use crate::{
    process::{Act, Process, die, orders},
    worker::{leave::committed, prelude::*},
};

/// The kills of one walk, which set nothing aside.
const KILLS: usize = 3;

/// So many walks meet everything.
const MANY: usize = 200;

/// The rounds in which a walk comes to its end once nothing disturbs it.
const ROUNDS: usize = 100;

/// When a process dies.
#[derive(Debug, Serialize, Deserialize)]
enum Moment {
    /// At this fail point.
    At(String),
    /// So long after its start.
    After { ms: u64 },
}

/// What a worker in another process is to do.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    now: i64,
    tour: Id,
    says: Vec<Event>,
    dies: Moment,
}

struct Walk<'a> {
    random: &'a mut Random,
    folder: TempDir,
    hand: Hand,
    store: Store,
    tour: Id,
    /// The whole questions that Ann approves, by their calls.
    shown: BTreeMap<Id, String>,
    kills: usize,
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("agent.db")
}

impl<'a> Walk<'a> {
    async fn new(random: &'a mut Random) -> Self {
        let (folder, hand) = (tempfile::tempdir().unwrap(), Hand::default());
        let options = OpenOptions::new().clock(hand.clone());
        let store = options.sqlite(file(&folder)).await.unwrap();
        let tour = create(&store, Tour::new(Pay { stage: 0 })).await;
        Self { random, folder, hand, store, tour, shown: BTreeMap::new(), kills: 0 }
    }

    async fn step(&mut self) {
        match self.random.below(8) {
            0 => self.says(&Event::Pause).await,
            1 => self.says(&Event::Resume).await,
            2 => self.says(&Event::Again).await,
            3 => self.hand.pass(Duration::from_secs(self.random.number() % 9)),
            4 | 5 => {
                let declines = self.random.percent(20);
                self.answers(declines).await;
            }
            _ => self.drives().await,
        }
    }

    async fn says(&self, event: &Event) {
        let sent = self.store.send(self.tour, &Message::new(event, ann()).unwrap()).await;
        assert!(matches!(sent, Ok(_) | Err(SendError::Ended { .. })), "{sent:?}");
    }

    /// Ann answers the questions that are open.
    async fn answers(&mut self, declines: bool) {
        for call in self.store.children(self.tour).await.unwrap() {
            let AnyExecution::Pending(call) = self.store.load(call.id).await.unwrap() else {
                continue;
            };
            let gate = call.context().behind().unwrap();
            // It was answered, and its call has not begun.
            let Ok(gate) = self.store.gate(gate).await else { continue };
            if declines {
                drop(self.store.decline(gate, "too dear", ann()).await.unwrap());
            } else {
                let whole = gate.whole_question().unwrap();
                self.shown.insert(call.id(), whole.text);
                drop(self.store.approve(gate, whole.digest, ann()).await.unwrap());
            }
        }
    }

    /// A worker runs, here or in a process that is killed.
    async fn drives(&mut self) {
        let says = match self.random.below(4) {
            0 => vec![Event::Pause],
            1 => vec![Event::Pause, Event::Resume],
            _ => Vec::new(),
        };
        if self.kills == KILLS || self.random.percent(50) {
            settle(self.bank(says).worker()).await;
            return;
        }
        let dies = match self.random.below(3) {
            0 => Moment::At("bank-asked".to_owned()),
            1 => Moment::At("bank-paid".to_owned()),
            _ => Moment::After { ms: self.random.number() % 40 },
        };
        let (now, tour) = (self.hand.now(), self.tour);
        let orders = Orders { file: file(&self.folder), now, tour, says, dies };
        let process = Process::start("worker::invoked::walks::drives_or_dies", &orders);
        let has_ended = tokio::task::spawn_blocking(|| process.ended_well()).await.unwrap();
        self.kills += usize::from(!has_ended);
    }

    fn bank(&self, says: Vec<Event>) -> Bank {
        let (store, tour) = (self.store.clone(), self.tour);
        Bank { store, file: file(&self.folder), tour, says }
    }

    /// Nothing disturbs it any more.
    async fn ends(&mut self) {
        for _ in 0..ROUNDS {
            self.answers(false).await;
            settle(self.bank(Vec::new()).worker()).await;
            let calls = self.store.children(self.tour).await.unwrap();
            let tour = self.store.load::<AnyTour>(self.tour).await.unwrap();
            if matches!(tour, AnyTour::Home(_)) && calls.iter().all(|call| call.has_ended) {
                return;
            }
            self.hand.pass(Duration::from_secs(3));
        }
        let all = committed(&self.store).await;
        panic!("it does not end: {all:#?}");
    }

    /// The service received what Ann saw, and paid each stage once.
    fn is_as_shown(&self, lines: &[Line]) {
        for (place, Line { execution, stage }) in lines.iter().enumerate() {
            let shown = self.shown.get(execution).map_or("", String::as_str);
            let line = format!("stage: {stage}");
            assert!(shown.lines().any(|it| it == line), "{stage} was paid, and seen was {shown:?}");
            let is_again = lines[..place].iter().any(|other| other.stage == *stage);
            assert!(!is_again, "stage {stage} was paid again: {lines:?}");
        }
    }
}

/// Drives everything until it rests or dies.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn drives_or_dies() {
    let Orders { file, now, tour, says, dies } = orders();
    match dies {
        Moment::At(point) => Act::Kill.at(&point, 0),
        Moment::After { ms } => drop(std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(ms));
            die();
        })),
    }
    let options = OpenOptions::new().clock(Hand::at(now));
    let store = options.sqlite(&file).await.unwrap();
    let bank = Bank { store, file, tour, says };
    bank.worker().run_until_idle().await.unwrap();
}

#[tokio::test]
async fn each_outcome_is_taken_once_by_its_visit_whoever_dies() {
    let mut random = Random::of("walks");
    let walks: usize = setting("MACHINE_INVOKED_WALKS").unwrap_or(12);
    let (mut kills, mut all) = (0, Counts::default());
    for _ in 0..walks {
        let mut walk = Walk::new(&mut random).await;
        for _ in 0..12 {
            walk.step().await;
        }
        walk.ends().await;
        let lines = bank::lines(&file(&walk.folder));
        walk.is_as_shown(&lines);
        let history = committed(&walk.store).await;
        let counts = check::check(&walk.store, walk.tour, &history, &lines).await;
        all.paid += counts.paid;
        all.joined += counts.joined;
        all.withdrawn += counts.withdrawn;
        all.declined += counts.declined;
        machine_tests::stores::assert_intact(&walk.store).await;
        kills += walk.kills;
    }
    eprintln!("{walks} walks, {kills} kills, {all:?}");
    assert!(kills > 0, "no worker was killed");
    // The twins of approvals and of receipts change such walks.
    assert!(all.paid > 0, "no receipt was taken");
    let has_all = all.joined > 0 && all.withdrawn > 0 && all.declined > 0;
    assert!(walks < MANY || has_all, "something never happens in {walks} walks: {all:?}");
}
