//! Attempts at a job that fail, in virtual time.

use std::time::Duration;

use coding_agent::plan::{
    attempt::{pause, why_left},
    job::{AnyJob, Job, Limits},
};
use machine::{
    testing::TestEnvironment,
    view::Human,
    worker::{Handled, Handler, Task},
};

struct Fails;

impl Handler for Fails {
    type Machine = AnyJob;

    async fn handle(&self, _: AnyJob, _: &mut Task) -> Handled<AnyJob> {
        Err("the planner is busy".into())
    }
}

/// A retry that becomes due while the program looks is made, once; then the trouble is told.
#[tokio::test(start_paused = true)]
async fn a_retry_that_becomes_due_meanwhile_is_made() {
    let desk = TestEnvironment::new(|worker| worker.handler(Fails));
    let ann = desk.person("ann");
    let job = Job::new(Limits::default()).user_message("make it right".to_owned(), &ann);
    let id = desk.create(job).await;
    let detail = async || Box::pin(desk.observer().detail::<Human>(id)).await.unwrap();
    let left = detail().await;
    assert_eq!(pause(&left, 0, 0), None);
    assert_eq!(why_left(&left), "a worker that may still live holds it: try again in 30 s");

    let began = desk.store().now();
    desk.run_until_idle().await;
    let left = detail().await;
    let wait = pause(&left, began, desk.store().now()).unwrap();
    assert!(wait > Duration::ZERO);
    desk.advance(wait).await;
    let due = desk.store().now();
    assert_eq!(pause(&left, began, due), Some(Duration::ZERO));
    assert_eq!(pause(&left, due, due), None);
    assert_eq!(why_left(&left), "the program returned an error");
}
