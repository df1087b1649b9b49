//! Outcomes without triggers, which a handler takes, though perhaps not when it sees them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use machine::{
    actor::{GraphRunner, Human},
    contract::{CallError, Outcome, Tool},
    machine,
    testing::{Reply, TestEnvironment, TestTool},
    worker::{Handled, Handler, Next, Task},
};
use serde::{Deserialize, Serialize};

use super::orders::is_clean;
use search::Event;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(files.search, idempotent)]
struct Look {
    folder: String,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Search {
    #[initial]
    #[on(begin(folders) => Searching, by = Human)]
    #[on(begin_one(folder) => Looking, by = Human)]
    Idle,
    #[invoke(look: Look = Look { folder })]
    #[on(finish(outcomes) => Found, by = GraphRunner)]
    Looking { folder: String },
    #[invoke(
        looks: [Look] = folders.into_iter().map(|folder| Look { folder }),
        within = Duration::from_secs(10)
    )]
    #[on(poke => Self, by = Human)]
    #[on(note => Self, by = GraphRunner)]
    #[on(finish(outcomes) => Found, by = GraphRunner)]
    Searching { folders: Vec<String> },
    #[terminal]
    Found { outcomes: Vec<Outcome<Look>> },
}

/// It takes all outcomes at once.
struct Takes;

impl search::Handle for Takes {
    async fn looking(
        &self,
        search: Search<search::Looking>,
        outcome: Outcome<Look>,
        task: &mut Task,
    ) -> Handled<AnySearch> {
        Ok(Next::to(search.finish(vec![outcome], &task.actors().graph_runner)))
    }

    async fn searching(
        &self,
        search: Search<search::Searching>,
        outcomes: Vec<Outcome<Look>>,
        task: &mut Task,
    ) -> Handled<AnySearch> {
        Ok(Next::to(search.finish(outcomes, &task.actors().graph_runner)))
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_takes_the_outcomes() {
    let folders = |count: usize| -> Vec<String> {
        ["a", "b", "c"][..count].iter().map(|&it| it.to_owned()).collect()
    };
    for (event, count) in [
        (Event::BeginOne { folder: "a".to_owned() }, 1),
        (Event::Begin { folders: folders(3) }, 3),
        (Event::Begin { folders: folders(0) }, 0),
    ] {
        let looks = TestTool::<Look>::new().otherwise(Reply::refused("no such folder"));
        let shop = TestEnvironment::new(move |worker| {
            worker.handler(search::Driver(Takes)).tool(looks.clone())
        });
        let id = shop.create(AnySearch::from(Search::new())).await;
        shop.send(id, &event, &shop.person("ann")).await;
        shop.run_until_idle().await;
        let AnySearch::Found(found) = shop.load(id).await else { panic!("{event:?}") };
        let refused: Outcome<Look> = Err(CallError::Refused("no such folder".to_owned()));
        assert_eq!(found.state().outcomes, vec![refused; count], "{event:?}");
        is_clean(&shop).await;
    }
}

/// It looks this often before it takes the outcomes, and it takes no overdue one.
struct Patient(Arc<AtomicUsize>);

impl Handler for Patient {
    type Machine = AnySearch;

    async fn handle(&self, search: AnySearch, task: &mut Task) -> Handled<AnySearch> {
        let AnySearch::Searching(search) = search else { return Ok(Next::Wait) };
        let Some(outcomes) = task.outcomes::<Look>()? else { return Ok(Next::Wait) };
        let waits = |left: usize| left.checked_sub(1);
        if self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, waits).is_ok() {
            return Ok(Next::Wait);
        }
        let runner = &task.actors().graph_runner;
        let is_overdue = |it: &Outcome<Look>| matches!(it, Err(CallError::Overdue { .. }));
        Ok(if outcomes.iter().any(is_overdue) {
            Next::to(search.note(runner))
        } else {
            Next::to(search.finish(outcomes, runner))
        })
    }
}

async fn searched(looks: &TestTool<Look>, patience: usize) -> (TestEnvironment, machine::Id) {
    let (looks, patience) = (looks.clone(), Arc::new(AtomicUsize::new(patience)));
    let shop = TestEnvironment::new(move |worker| {
        worker.handler(Patient(Arc::clone(&patience))).tool(looks.clone())
    });
    let id = shop.create(AnySearch::from(Search::new())).await;
    let folders = ["a", "b"].map(str::to_owned).into();
    shop.send(id, &Event::Begin { folders }, &shop.person("ann")).await;
    shop.run_until_idle().await;
    (shop, id)
}

/// An outcome is never tried too often: to wait is no failure.
#[tokio::test(start_paused = true)]
async fn a_handler_may_look_at_an_outcome_as_often_as_it_likes() {
    let looks = TestTool::<Look>::new().otherwise(Reply::applied("text"));
    let (shop, id) = searched(&looks, 40).await;
    for _ in 0..60 {
        if matches!(shop.load(id).await, AnySearch::Found(_)) {
            break;
        }
        shop.send(id, &Event::Poke, &shop.person("ann")).await;
        shop.run_until_idle().await;
    }
    let AnySearch::Found(found) = shop.load(id).await else { panic!("{:?}", shop.failures()) };
    assert_eq!(found.state().outcomes, [Ok("text".to_owned()), Ok("text".to_owned())]);
    is_clean(&shop).await;
}

/// What was taken is not taken again, and what was overdue has its outcome later.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_was_overdue_comes_with_those_that_were_taken() {
    let looks = TestTool::<Look>::new().replies(Reply::applied("text"));
    let looks = looks.otherwise(Reply::applied("text").after(Duration::from_secs(20)));
    let (shop, id) = searched(&looks, 0).await;
    shop.advance(Duration::from_mins(1)).await;
    shop.run_until_idle().await;
    let AnySearch::Found(found) = shop.load(id).await else { panic!("{:?}", shop.failures()) };
    assert_eq!(found.state().outcomes, [Ok("text".to_owned()), Ok("text".to_owned())]);
    let history = shop.store().history(id).await.unwrap();
    assert_eq!(history.entries.len(), 4, "created, begin, note, finish");
    is_clean(&shop).await;
}
