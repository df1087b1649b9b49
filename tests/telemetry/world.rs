//! A store in a file, people and nodes, whose names, payloads, sessions, errors and paths have a
//! secret.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::{Actors, Human},
    clock::{Clock, Millis},
    contract::{
        Action, Answer, Attempt, Call, Contract, Execution, NoReceipt, Perform, ToolAnswer,
        ToolSpec, execution::Pending,
    },
    store::{Message, OpenOptions, Store},
    worker::Worker,
};
use machine_tests::random::Random;
use tempfile::TempDir;

use crate::errand::{Clerk, Does, Errand, Hold};

/// A secret, with a prefix that nothing else has.
pub(crate) fn secret(random: &mut Random) -> String {
    format!("ŝ{:x}", random.number())
}

/// The idempotency keys of all calls.
pub(crate) static KEYS: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub(crate) struct World {
    pub(crate) secret: String,
    pub(crate) store: Store,
    pub(crate) actors: Actors,
    pub(crate) ann: Human,
    pub(crate) hand: Hand,
    folder: TempDir,
}

impl World {
    pub(crate) async fn new(secret: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let hand = Hand::default();
        let path = folder.path().join(format!("{secret}.db"));
        // Short, for a file that is in use when it is closed.
        let options = OpenOptions::new().busy_timeout(Duration::from_millis(500));
        let store = options.clock(hand.clone()).sqlite(path).await.unwrap();
        let actors = Actors::issue(&format!("{secret} node")).unwrap();
        let ann = Human::new(&format!("{secret}@example.com")).unwrap();
        Self { secret: secret.to_owned(), store, actors, ann, hand, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(format!("{}.db", self.secret))
    }

    /// A text with the secret.
    pub(crate) fn text(&self, text: &str) -> String {
        format!("{text} {}", self.secret)
    }

    /// An irreversible call that settles at once.
    pub(crate) fn mail(&self, number: u32) -> Contract {
        let tool = ToolSpec::irreversible("email", "send").unwrap().settling_time(Duration::ZERO);
        self.contract(&tool, number)
    }

    /// An idempotent call.
    pub(crate) fn read(&self, number: u32) -> Contract {
        self.contract(&ToolSpec::idempotent("files", "read").unwrap(), number)
    }

    fn contract(&self, tool: &ToolSpec, number: u32) -> Contract {
        let arguments = serde_json::json!({ "to": self.text("bob"), "number": number });
        let contract =
            Contract::tool_call(tool, &arguments.to_string(), &self.actors.reasoning_node).unwrap();
        KEYS.lock().unwrap().extend(contract.idempotency_key().map(ToString::to_string));
        contract.about(&self.text("a mail")).session(self.text("session")).note("x", &*self.secret)
    }

    pub(crate) async fn stored(&self, contract: Contract) -> Execution<Pending> {
        let mut pending = Execution::new(contract);
        self.store.create(&mut pending).await.unwrap();
        pending
    }

    pub(crate) async fn errand(&self) -> Id {
        let mut errand = Errand::new(self.text("note"));
        self.store.create(&mut errand).await.unwrap();
        errand.id()
    }

    /// A worker with a handler for errands, which tries again at once, and twice.
    pub(crate) fn worker(&self, does: Does) -> Worker {
        let worker = Worker::new(&self.store, Actors::issue(&self.text("worker")).unwrap());
        worker
            .handler(Clerk(does))
            .backoff(Duration::ZERO, Duration::ZERO)
            .attempts(2)
            .sweep(Duration::from_millis(10))
    }

    /// A message to an errand; this is its trigger.
    pub(crate) fn message(&self, trigger: &str) -> Message {
        let text = self.text("hello");
        let body = serde_json::json!({ "trigger": trigger, "text": text, "reason": text });
        let message = Message::from_json(body.to_string(), &self.ann).unwrap();
        message.with_correlation(format!("{trigger} {}", self.secret)).unwrap()
    }

    /// A service whose answers have the secret, too.
    pub(crate) fn service(&self, answer: Answer) -> Service {
        let unknown = Err(NoReceipt::unknown(self.text("cannot be asked")));
        Service { answer, found: unknown, hold: None }
    }
}

/// A service that gives the same answer to every call.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) answer: Answer,
    pub(crate) found: Answer,
    /// Until when it does not answer.
    pub(crate) hold: Option<Hold>,
}

impl Perform<Action> for Service {
    async fn perform(&self, _: &Call<Action>) -> ToolAnswer<Action> {
        if let Some(hold) = &self.hold {
            hold.hold().await;
        }
        tracing::info!("the service answers");
        self.answer.clone().map_err(|it| it.map(Into::into))
    }

    async fn find(&self, _: &Attempt<Action>) -> ToolAnswer<Action> {
        self.found.clone().map_err(|it| it.map(Into::into))
    }
}

/// The clock of the system, and a test can move it on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hand(Arc<AtomicI64>);

impl Hand {
    pub(crate) fn advance(&self, by: Millis) {
        self.0.fetch_add(by, Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Millis {
        machine::clock::now() + self.0.load(Ordering::SeqCst)
    }
}

/// A clock on which no time passes for leases and timers: its process looks frozen to others.
#[derive(Debug)]
pub(crate) struct Frozen;

impl Clock for Frozen {
    fn now(&self) -> Millis {
        machine::clock::now()
    }

    fn uptime(&self) -> Duration {
        Duration::from_secs(1)
    }
}
