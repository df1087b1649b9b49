use std::time::Duration;

use anyhow::Context;
use machine::{
    Id,
    actor::GraphRunner,
    store::{Query, Store},
};

use crate::{
    record::{Submission, TaskRecord},
    work::Work,
    workflow::{
        AnyWorkflow, Workflow,
        workflow::{DEFINITION, Status},
    },
};

const UNREAD: &str = "the engines cannot be read";
const UNWRITTEN: &str = "the task cannot be written";

/// A task that was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted {
    pub record: Id,
    pub engine: Id,
}

/// Gives a task to an idle engine, or to a new one, and creates its record: one batch.
pub async fn submit(
    store: &Store,
    goal: &str,
    limit: Duration,
    by: &GraphRunner,
) -> anyhow::Result<Submitted> {
    let mut record = TaskRecord::new(Submission { goal: goal.to_owned() });
    let work = Work::new(record.id(), limit);
    let idle = Query::new().machine(&*DEFINITION.name).status(Status::Idle.as_str());
    for engine in store.load_all::<AnyWorkflow>(&idle).await.context(UNREAD)?.items {
        let AnyWorkflow::Idle(engine) = engine.context(UNREAD)? else { continue };
        let mut engine = engine.start_task(goal.to_owned(), work.clone(), by);
        match store.batch().commit(&mut engine).create(&mut record).write().await {
            Ok(()) => return Ok(Submitted { record: record.id(), engine: engine.id() }),
            // It has got another task in the meantime.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error).context(UNWRITTEN),
        }
    }
    let mut engine = Workflow::new().start_task(goal.to_owned(), work, by);
    store.batch().create(&mut engine).create(&mut record).write().await.context(UNWRITTEN)?;
    Ok(Submitted { record: record.id(), engine: engine.id() })
}
