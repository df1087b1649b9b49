//! A handler has a method for every state that asks for something; the others wait.

use machine::{
    actor::{Actors, GraphRunner, Human},
    contract::{CallError, Outcome, Tool},
    machine,
    store::Store,
    worker::{Handled, Next, Task, Worker},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent, receipt = String)]
pub struct Read {
    path: String,
}

/// A search, in which all kinds of states occur.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Search {
    #[initial]
    #[on(begin => Match, by = GraphRunner)]
    Idle,

    /// A state whose name is a keyword.
    #[on(pause => Paused, by = GraphRunner)]
    Match,

    #[stable]
    #[on(resume(reads = vec![]) => Set, by = Human)]
    Paused,

    #[invoke(reads: [Read])]
    #[on(next(read = Read { path: String::new() }) => One, by = GraphRunner)]
    Set { reads: Vec<Read> },

    #[invoke(read)]
    #[on(next => InTheTable, by = GraphRunner)]
    One { read: Read },

    #[invoke(read, done = found, failed = lost)]
    #[on(found(text: String) => Done)]
    #[on(lost(why: CallError) => Done)]
    InTheTable { read: Read },

    #[terminal]
    Done,
}

struct Finder(GraphRunner);

impl search::Handle for Finder {
    async fn idle(&self, search: Search<search::Idle>, _: &mut Task) -> Handled<AnySearch> {
        Ok(Next::to(search.begin(&self.0)))
    }

    async fn r#match(&self, search: Search<search::Match>, _: &mut Task) -> Handled<AnySearch> {
        Ok(Next::to(search.pause(&self.0)))
    }

    async fn set(
        &self,
        search: Search<search::Set>,
        outcomes: Vec<Outcome<Read>>,
        _: &mut Task,
    ) -> Handled<AnySearch> {
        assert!(outcomes.is_empty());
        Ok(Next::to(search.next(&self.0)))
    }

    async fn one(
        &self,
        search: Search<search::One>,
        outcome: Outcome<Read>,
        _: &mut Task,
    ) -> Handled<AnySearch> {
        outcome?;
        Ok(Next::to(search.next(&self.0)))
    }
}

/// A machine that asks for nothing.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Switch {
    #[initial]
    #[stable]
    #[on(turn_on => On, by = Human)]
    Off,
    #[terminal]
    On,
}

#[test]
fn a_worker_calls_the_method_of_the_state() -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::memory();
    let (mut search, mut switch) = (Search::new(), Switch::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        store.create(&mut search).await?;
        store.create(&mut switch).await?;
        Worker::new(&store, Actors::issue("worker")?)
            .handler(search::Driver(Finder(Actors::issue("finder")?.graph_runner)))
            .machine::<AnySwitch>()
            .run_until_idle()
            .await?;
        let search: AnySearch = store.load(search.id()).await?;
        assert_eq!(search.status(), search::Status::Paused, "a stable state waits");
        let switch: AnySwitch = store.load(switch.id()).await?;
        assert_eq!(switch.status(), switch::Status::Off);
        Ok(())
    })
}
