//! Sets of calls.

use std::time::Duration;

use machine::{
    Id,
    actor::Human,
    contract::{CallError, Outcome, Tool},
    machine,
    testing::{Reply, TestEnvironment, TestTool},
};
use serde::{Deserialize, Serialize};

use super::orders::is_clean;
use plan::Event;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent)]
struct Read {
    path: String,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Plan {
    #[initial]
    #[on(read(reads) => Reading, by = Human)]
    #[on(count(reads, seen = 0) => Counting, by = Human)]
    Idle,
    #[invoke(reads: [Read], within = Duration::from_secs(10), done = all)]
    #[on(all(outcomes) => Ready(seen = 0))]
    Reading { reads: Vec<Read> },
    #[invoke(reads: [Read] = reads.clone(), each = one, done = all)]
    #[on(one(outcome: Outcome<Read>, index: usize, seen = seen + 1) => Self)]
    #[on(all(outcomes) => Ready)]
    Counting { reads: Vec<Read>, seen: usize },
    #[terminal]
    Ready { outcomes: Vec<Outcome<Read>>, seen: usize },
}

async fn planned(files: &TestTool<Read>, event: &Event) -> (TestEnvironment, Id) {
    let files = files.clone();
    let library =
        TestEnvironment::new(move |worker| worker.machine::<AnyPlan>().tool(files.clone()));
    let id = library.create(AnyPlan::from(Plan::new())).await;
    library.send(id, event, &library.person("ann")).await;
    library.run_until_idle().await;
    (library, id)
}

fn reads(count: usize) -> Vec<Read> {
    (0..count).map(|path| Read { path: path.to_string() }).collect()
}

/// All outcomes, also of none.
#[tokio::test(start_paused = true)]
async fn all_outcomes_of_a_set_come_together() {
    for reply in [Reply::applied("text"), Reply::refused("no such file")] {
        for count in [0, 1, 2, 5] {
            let read = Event::Read { reads: reads(count) };
            for (event, seen) in [(read, 0), (Event::Count { reads: reads(count) }, count)] {
                let files = TestTool::<Read>::new().otherwise(reply.clone());
                let (library, id) = planned(&files, &event).await;
                let AnyPlan::Ready(ready) = library.load(id).await else { panic!("{event:?}") };
                let plan::Ready { outcomes, seen: found } = ready.state();
                assert_eq!((outcomes.len(), *found), (count, seen), "{reply:?}: {event:?}");
                let expected = match &reply {
                    Reply::Applied(_) => Ok("text".to_owned()),
                    _ => Err(CallError::Refused("no such file".to_owned())),
                };
                assert!(outcomes.iter().all(|outcome| *outcome == expected), "{outcomes:?}");
                is_clean(&library).await;
            }
        }
    }
}

/// The limit ends the waiting and not the call, whose outcome comes later and changes nothing.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_overdue_runs_on() {
    let files = TestTool::<Read>::new().replies(Reply::applied("text"));
    let files = files.otherwise(Reply::applied("late").after(Duration::from_secs(20)));
    let (library, id) = planned(&files, &Event::Read { reads: reads(2) }).await;
    library.advance(Duration::from_mins(1)).await;
    library.run_until_idle().await;
    let AnyPlan::Ready(ready) = library.load(id).await else { panic!("it is ready") };
    let outcomes = &ready.state().outcomes;
    let overdue = outcomes.iter().filter(|it| matches!(it, Err(CallError::Overdue { .. }))).count();
    assert_eq!((overdue, outcomes.len()), (1, 2), "{outcomes:?}");
    assert!(library.store().children(id).await.unwrap().iter().all(|call| call.has_ended));
    is_clean(&library).await;
}
