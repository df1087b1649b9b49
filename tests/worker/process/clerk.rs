//! A process whose worker drives letters, and its action in the middle of a handler.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::Actors,
    clock::{Clock, Millis, SystemClock},
    store::{Message, OpenOptions},
    worker::{Handled, Handler, Next, Task, Worker},
};
use machine_tests::actors::graph_runner;
use serde::{Deserialize, Serialize};

use super::{AnyLetter, Member, Slip, close, letters::FREEZES, log::Log, slip, work};
use crate::{
    effects::tool::{Pay, Teller},
    process::{Process, freeze, orders, say, wait},
};

/// The time that passes while a process is frozen: more than a lease.
const FROZEN: Duration = Duration::from_hours(2);

/// The time by which the clock of this process is ahead of the system's, in milliseconds.
static AHEAD: AtomicU64 = AtomicU64::new(0);

/// The message of a process that was asked to stop.
pub(super) const STOPPING: &str = "stopping";

/// The action of a process the first time it is in the handler of SIGNED.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Act {
    /// Nothing special.
    Go,
    /// Is frozen, without giving the runtime a chance.
    Freeze,
    /// Is frozen while it waits for something that never comes.
    FreezeAndHang,
    /// Is frozen before that: in the guard of the signature.
    FreezeInGuard,
    /// Says that it is there, and waits until the parent releases it.
    Wait,
    /// Reports that it is running, and waits forever.
    Hang,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    pub(crate) act: Act,
    /// The recipient of the messages of the handler.
    pub(crate) archive: Option<Id>,
    /// It pays with this one, and drives no letters.
    pub(crate) teller: Option<Teller>,
    pub(crate) lease: Duration,
    pub(crate) grace: Duration,
    /// Its clock for leases and timeouts does not count, as if the process were frozen all the
    /// time.
    pub(crate) clock_stands_still: bool,
    /// It starts when the leases of a process that is frozen have ended.
    pub(crate) is_later: bool,
    /// It keeps the store open until the parent ends it.
    pub(crate) stays: bool,
}

impl Orders {
    /// With a lease that is long enough for the test.
    pub(crate) fn new(name: &str, file: &Path) -> Self {
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
            act: Act::Go,
            archive: None,
            teller: None,
            lease: Duration::from_hours(1),
            grace: Duration::from_hours(1),
            clock_stands_still: false,
            is_later: false,
            stays: false,
        }
    }

    pub(crate) fn start(&self) -> Member {
        Member::of(Process::start("worker::process::clerk::works", self))
    }
}

/// The final report of a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The calls of its handler.
    pub(crate) calls: Vec<Called>,
    /// The warnings of the library.
    pub(crate) warnings: Vec<String>,
}

impl Report {
    pub(crate) fn warns_of(&self, text: &str) -> bool {
        self.warnings.iter().any(|line| line.contains(text))
    }

    /// The states whose handler it has called.
    pub(crate) fn states(&self) -> Vec<&str> {
        self.calls.iter().map(|call| call.state.as_str()).collect()
    }
}

/// A call of the handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Called {
    pub(crate) state: String,
    /// The token of the lease when the handler was called.
    pub(crate) token: u64,
    /// True if the worker believed in its lease at the end. `None` if the handler had no end.
    pub(crate) was_valid: Option<bool>,
}

/// The handler of letters. What it does besides the transition of SIGNED bears its name.
pub(crate) struct Clerk {
    orders: Orders,
    acted: AtomicBool,
    calls: Arc<Mutex<Vec<Called>>>,
}

impl Clerk {
    async fn acts(&self) {
        if self.acted.swap(true, Ordering::SeqCst) {
            return;
        }
        match self.orders.act {
            Act::Go | Act::FreezeInGuard => {}
            Act::Freeze => freeze_here(),
            Act::FreezeAndHang => {
                tokio::task::spawn_blocking(freeze).await.unwrap();
                std::future::pending::<()>().await;
            }
            Act::Wait => {
                say(&"in the handler");
                tokio::task::spawn_blocking(wait).await.unwrap();
            }
            Act::Hang => {
                say(&"in the handler");
                std::future::pending::<()>().await;
            }
        }
    }

    /// Adds the children, machines and messages of the transition.
    fn fill(&self, task: &mut Task) {
        let name = &self.orders.name;
        task.child(Slip::new(format!("child of {name}")));
        task.create(Slip::new(format!("created by {name}")));
        if let Some(archive) = self.orders.archive {
            let message = Message::new(&slip::Event::Tear, graph_runner()).unwrap();
            task.send(archive, message.with_correlation(format!("from {name}")).unwrap());
        }
    }
}

impl Handler for Clerk {
    type Machine = AnyLetter;

    async fn handle(&self, letter: AnyLetter, task: &mut Task) -> Handled<AnyLetter> {
        let by = graph_runner();
        let call = {
            let (state, token) = (letter.status().to_string(), token(&self.orders.file));
            let mut calls = self.calls.lock().unwrap();
            calls.push(Called { state, token, was_valid: None });
            calls.len() - 1
        };
        let next = match letter {
            AnyLetter::Blank(letter) => Next::to(letter.write(by)),
            AnyLetter::Signed(letter) => {
                self.acts().await;
                self.fill(task);
                Next::to(letter.copy(by))
            }
            AnyLetter::Copied(letter) => Next::to(letter.file(by)),
            AnyLetter::Written(_) | AnyLetter::Filed(_) => Next::Wait,
        };
        self.calls.lock().unwrap()[call].was_valid = Some(task.is_valid());
        Ok(next)
    }
}

/// The highest token of any lease, read without the library.
fn token(file: &Path) -> u64 {
    let raw = rusqlite::Connection::open(file).unwrap();
    let token: i64 = raw.query_row("SELECT max(token) FROM work", [], |row| row.get(0)).unwrap();
    token.unsigned_abs()
}

/// A place where this process is frozen. Nothing of the runtime runs meanwhile.
pub(super) fn freeze_here() {
    freeze();
    pass();
}

/// Lets more than a lease pass.
fn pass() {
    AHEAD.fetch_add(FROZEN.as_millis().try_into().unwrap(), Ordering::SeqCst);
}

/// The clock of the system, and the time that has passed for this process alone.
#[derive(Debug)]
struct Moved {
    stands_still: bool,
}

impl Clock for Moved {
    fn now(&self) -> Millis {
        SystemClock.now().saturating_add_unsigned(AHEAD.load(Ordering::SeqCst))
    }

    fn uptime(&self) -> Duration {
        if self.stands_still {
            return Duration::from_secs(1);
        }
        SystemClock.uptime() + Duration::from_millis(AHEAD.load(Ordering::SeqCst))
    }
}

/// Drives letters or payments until SIGTERM.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn works() {
    let orders: Orders = orders();
    let log = Log::start();
    if orders.is_later {
        pass();
    }
    let options = OpenOptions::new().clock(Moved { stands_still: orders.clock_stands_still });
    let store = options.sqlite(&orders.file).await.unwrap();
    let calls: Arc<Mutex<Vec<Called>>> = Arc::default();
    FREEZES.store(orders.act == Act::FreezeInGuard, Ordering::SeqCst);
    let worker = Worker::new(&store, Actors::issue(&orders.name).unwrap())
        .lease(orders.lease)
        .sweep(Duration::from_millis(100))
        .grace(orders.grace);
    let worker = if let Some(teller) = orders.teller.clone() {
        worker.tool::<Pay>(teller)
    } else {
        let acted = AtomicBool::new(false);
        worker.handler(Clerk { orders: orders.clone(), acted, calls: Arc::clone(&calls) })
    };
    work(worker).await;
    let calls = calls.lock().unwrap().clone();
    say(&Report { calls, warnings: log.lines() });
    if orders.stays {
        tokio::task::spawn_blocking(wait).await.unwrap();
    }
    close(store).await;
}
