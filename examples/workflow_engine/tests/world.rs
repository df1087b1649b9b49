//! An office, a store, and a worker in this process.

use std::{
    fmt, fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use machine::{
    actor::{Actors, Human},
    clock::{self, Clock, Millis},
    contract::{NotDone, ToolSpec},
    store::{Delivery, Message, OpenOptions, Store},
    view::{self, transitions},
    worker::{Failure, Worker},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    agent::{Agent, Brief, Reply},
    engine::{Driver, Records},
    office,
    plan::Plan,
    record::AnyTaskRecord,
    submit::{Submitted, submit},
    workflow::AnyWorkflow,
};

/// The limit of a task.
pub const LIMIT: Duration = Duration::from_hours(1);

type Thought = dyn Fn(&Brief) -> Result<Reply<Plan>, Failure> + Send + Sync;

/// A function as an agent.
#[derive(Clone)]
pub struct Thinks(pub Arc<Thought>);

impl Agent for Thinks {
    async fn accept(&self, goal: &str) -> Result<Reply<()>, Failure> {
        match goal {
            "impossible" => Ok(Reply::Cannot("nobody can do that".to_owned())),
            "unreachable" => Err("the model is down".into()),
            _ => Ok(Reply::Can(())),
        }
    }

    async fn plan(&self, brief: &Brief) -> Result<Reply<Plan>, Failure> {
        if brief.goal == "think for ever" {
            std::future::pending::<()>().await;
        }
        (self.0)(brief)
    }
}

/// The clock of the system, and what a test adds.
#[derive(Debug, Clone, Default)]
struct Ahead(Arc<AtomicI64>);

impl Clock for Ahead {
    fn now(&self) -> Millis {
        clock::now() + self.0.load(Ordering::SeqCst)
    }
}

pub struct World {
    pub folder: TempDir,
    pub store: Store,
    pub actors: Actors,
    ahead: Ahead,
    agent: Thinks,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

impl World {
    pub async fn new(
        agent: impl Fn(&Brief) -> Result<Reply<Plan>, Failure> + Send + Sync + 'static,
    ) -> Self {
        let (folder, ahead) = (TempDir::new().unwrap(), Ahead::default());
        let options = OpenOptions::new().clock(ahead.clone());
        let store = options.sqlite(folder.path().join("engine.db")).await.unwrap();
        let actors = Actors::issue("engine").unwrap();
        Self { folder, store, actors, ahead, agent: Thinks(Arc::new(agent)) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The content of a file of the office.
    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub async fn submit(&self, goal: &str) -> Submitted {
        submit(&self.store, goal, LIMIT, &self.actors.graph_runner).await.unwrap()
    }

    /// Works until nothing is ready, as a new process would.
    pub async fn work(&self) {
        let mut tools = office::tools(self.folder.path()).unwrap();
        // It is unknown whether it arrived, and the service cannot be asked.
        let courier = ToolSpec::irreversible("courier", "send").unwrap();
        tools
            .add(courier, |_| Box::pin(async { Err(NotDone::unknown("the courier is silent")) }))
            .unwrap();
        let tools = Arc::new(tools);
        Worker::new(&self.store, Actors::issue("engine").unwrap())
            .handler(Driver::new(self.agent.clone(), Arc::clone(&tools)))
            .handler(Records)
            .other_tools(tools)
            .sweep(Duration::from_millis(10))
            .run_until_idle()
            .await
            .unwrap();
    }

    /// Ann sends an event; an answer is for the intervention that the engine waits in.
    pub async fn say(&self, to: Submitted, trigger: &str, payload: Value) {
        let engine = self.engine(to).await;
        let waits = matches!(engine, AnyWorkflow::ManualIntervention(_));
        let seen = waits.then(|| engine.journal().summary().transitions);
        self.send(to, "ann", seen, trigger, payload).await;
    }

    /// A person who has seen the engine after this number of transitions sends an event; returns its
    /// correlation id.
    pub async fn send(
        &self,
        to: Submitted,
        by: &str,
        seen: Option<u64>,
        trigger: &str,
        payload: Value,
    ) -> String {
        let mut body = payload;
        body["trigger"] = json!(trigger);
        let mut message = Message::new(&body, &Human::new(by).unwrap()).unwrap();
        if let Some(seen) = seen {
            message = message.unless_moved(seen);
        }
        self.store.send(to.engine, &message).await.unwrap();
        message.correlation().to_owned()
    }

    /// The delivery status of a message to an engine, and its error.
    pub async fn delivery(&self, to: Submitted, correlation: &str) -> (Delivery, Option<String>) {
        let inbox = self.store.inbox(to.engine).await.unwrap();
        let mut messages = inbox.into_iter().map(Result::unwrap);
        let message = messages.find(|it| it.correlation == correlation).unwrap();
        (message.status, message.error)
    }

    /// The limit of all tasks has passed.
    pub fn wait(&self) {
        let limit = Millis::try_from(LIMIT.as_millis()).unwrap();
        self.ahead.0.fetch_add(limit + 1, Ordering::SeqCst);
    }

    pub async fn engine(&self, task: Submitted) -> AnyWorkflow {
        self.store.load(task.engine).await.unwrap()
    }

    pub async fn record(&self, task: Submitted) -> AnyTaskRecord {
        self.store.load(task.record).await.unwrap()
    }

    /// The moves of an engine: from, trigger, to.
    pub async fn moves(&self, task: Submitted) -> Vec<(String, String, String)> {
        let history = self.store.history(task.engine).await.unwrap();
        let moves = transitions::<view::Human>(&history).into_iter();
        moves.map(|it| (it.from_status.into(), it.trigger.into(), it.to_status.into())).collect()
    }
}
