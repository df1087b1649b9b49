//! A handler has a method for every state that asks for something; the others wait.

use machine::{
    actor::{Actors, GraphRunner, Human},
    machine,
    store::Store,
    worker::{Handled, Next, Task, Worker},
};
use serde::{Deserialize, Serialize};

/// A search. The states that call tools are those of `tests/worker/invoked`.
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
    #[on(resume => Done, by = Human)]
    Paused,

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
