//! Outcomes without triggers, which a handler takes.

use machine::{
    actor::{GraphRunner, Human},
    contract::{CallError, Outcome, Tool},
    machine,
    testing::{Reply, TestEnvironment, TestTool},
    worker::{Handled, Next, Task},
};
use serde::{Deserialize, Serialize};

use super::orders::is_clean;
use build::Event;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(builder.compile, idempotent)]
struct Compile {
    file: String,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Build {
    #[initial]
    #[on(begin(file) => Compiling, by = Human)]
    #[on(begin_all(files) => CompilingAll, by = Human)]
    Idle,
    #[invoke(compilation: Compile = Compile { file })]
    #[on(finish(outcomes) => Built, by = GraphRunner)]
    Compiling { file: String },
    #[invoke(compilations: [Compile] = files.into_iter().map(|file| Compile { file }))]
    #[on(finish(outcomes) => Built, by = GraphRunner)]
    CompilingAll { files: Vec<String> },
    #[terminal]
    Built { outcomes: Vec<Outcome<Compile>> },
}

struct Builder;

impl build::Handle for Builder {
    async fn compiling(
        &self,
        build: Build<build::Compiling>,
        outcome: Outcome<Compile>,
        task: &mut Task,
    ) -> Handled<AnyBuild> {
        Ok(Next::to(build.finish(vec![outcome], &task.actors().graph_runner)))
    }

    async fn compiling_all(
        &self,
        build: Build<build::CompilingAll>,
        outcomes: Vec<Outcome<Compile>>,
        task: &mut Task,
    ) -> Handled<AnyBuild> {
        Ok(Next::to(build.finish(outcomes, &task.actors().graph_runner)))
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_takes_the_outcomes() {
    let files: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    for (event, count) in [
        (Event::Begin { file: "a".to_owned() }, 1),
        (Event::BeginAll { files }, 3),
        (Event::BeginAll { files: Vec::new() }, 0),
    ] {
        let compiler = TestTool::<Compile>::new().otherwise(Reply::refused("no such file"));
        let shop = TestEnvironment::new(move |worker| {
            worker.handler(build::Driver(Builder)).tool(compiler.clone())
        });
        let id = shop.create(AnyBuild::from(Build::new())).await;
        shop.send(id, &event, &shop.person("ann")).await;
        shop.run_until_idle().await;
        let AnyBuild::Built(built) = shop.load(id).await else { panic!("{event:?}") };
        let outcomes = &built.state().outcomes;
        let refused = Err(CallError::Refused("no such file".to_owned()));
        let refused = outcomes.iter().filter(|outcome| **outcome == refused).count();
        assert_eq!((outcomes.len(), refused), (count, count), "{event:?}");
        is_clean(&shop).await;
    }
}
