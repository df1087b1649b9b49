//! An office, and a worker in virtual time.

use std::{fmt, fs, path::PathBuf, sync::Arc, time::Duration};

use machine::{
    actor::{Actors, Human},
    contract::{NoReceipt, ToolSpec},
    store::{Delivery, Message, Store},
    testing::TestEnvironment,
    view::{self, transitions},
    worker::Failure,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    agent::{Agent, Brief, Reply},
    engine::Engine,
    office,
    plan::Plan,
    record::AnyTaskRecord,
    submit::{Submitted, submit},
    workflow::{
        AnyWorkflow, Workflow,
        workflow::{Driver, ManualIntervention},
    },
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
            "impossible" => Ok(Reply::Cannot("it cannot be done".to_owned())),
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

pub struct World {
    pub folder: TempDir,
    kit: TestEnvironment,
    pub store: Store,
    pub actors: Actors,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

impl World {
    pub fn new(
        agent: impl Fn(&Brief) -> Result<Reply<Plan>, Failure> + Send + Sync + 'static,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let mut tools = office::tools(folder.path()).unwrap();
        // It is unknown whether it arrived, and the service cannot be asked.
        let courier = ToolSpec::irreversible("courier", "send").unwrap();
        tools
            .add(courier, |_| Box::pin(async { Err(NoReceipt::unknown("the courier is silent")) }))
            .unwrap();
        let (tools, agent) = (Arc::new(tools), Thinks(Arc::new(agent)));
        let kit = TestEnvironment::new(move |worker| {
            let (agent, tools) = (agent.clone(), Arc::clone(&tools));
            let engine = Engine { agent, tools: Arc::clone(&tools), policy: office::POLICY };
            worker.handler(Driver(engine)).machine::<AnyTaskRecord>().other_tools(tools)
        });
        let store = kit.store().clone();
        Self { folder, kit, store, actors: Actors::issue("engine").unwrap() }
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

    /// Submits a task, and works until nothing is ready.
    pub async fn begin(&self, goal: &str) -> Submitted {
        let task = self.submit(goal).await;
        self.work().await;
        task
    }

    /// Works until nothing is ready, as a new process would.
    pub async fn work(&self) {
        self.kit.run_until_idle().await;
    }

    /// Ann sends an event; an answer is for the intervention that the engine waits in.
    pub async fn say(&self, to: Submitted, trigger: &str, payload: Value) {
        let engine = self.engine(to).await;
        let waits = matches!(engine, AnyWorkflow::ManualIntervention(_));
        let seen = waits.then(|| engine.journal().summary().transitions);
        self.send(to, "ann", seen, trigger, payload).await;
    }

    /// Ann sends an event, and the engine works until nothing is ready.
    pub async fn says(&self, to: Submitted, trigger: &str, payload: Value) {
        self.say(to, trigger, payload).await;
        self.work().await;
    }

    /// A person who has seen the engine after this number of transitions sends an event; returns
    /// its correlation id.
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
    pub async fn wait(&self) {
        self.kit.advance(LIMIT).await;
    }

    pub async fn engine(&self, task: Submitted) -> AnyWorkflow {
        self.store.load(task.engine).await.unwrap()
    }

    /// An engine that waits for a person.
    pub async fn asks(&self, task: Submitted) -> Workflow<ManualIntervention> {
        match self.engine(task).await {
            AnyWorkflow::ManualIntervention(asks) => asks,
            other => panic!("{other:?}"),
        }
    }

    pub async fn record(&self, task: Submitted) -> AnyTaskRecord {
        self.store.load(task.record).await.unwrap()
    }

    /// The moves of an engine: from, trigger, to.
    pub async fn moves(&self, task: Submitted) -> Vec<(String, String, String)> {
        let history = self.store.history(task.engine).await.unwrap();
        let moves = transitions::<view::Human>(&history).into_iter();
        let name = |name: &str| name.to_owned();
        moves.map(|it| (name(&it.from_status), name(&it.trigger), name(&it.to_status))).collect()
    }
}
