use std::collections::BTreeMap;

use machine::{
    Id,
    contract::{AnyExecution, Contract, IdempotencyKey},
    store::{LoadError, Query, Store},
    view::ConsequenceView,
};

/// The calls of a task so far, oldest first. They are executions in the session of the task.
#[derive(Debug, Clone)]
pub struct Calls(Vec<Made>);

/// A call that was made.
#[derive(Debug, Clone)]
struct Made {
    id: Id,
    tool: String,
    key: Option<IdempotencyKey>,
    turn: u64,
    progress: Progress,
    /// The line for people.
    told: String,
    /// The line for a model.
    line: String,
}

/// The progress of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Not begun.
    Pending,
    /// Under way, or in doubt.
    Begun,
    Succeeded(String),
    /// With its error, or why it did not take effect.
    Failed(String),
}

/// The note of a contract with the turn that it belongs to.
pub const TURN: &str = "turn";

impl Calls {
    /// Reads the calls of a session.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if one of them cannot be read.
    pub async fn read(store: &Store, session: &str) -> Result<Self, LoadError> {
        let mut calls = Vec::new();
        let mut query = Query::new().machine("execution").session(session);
        loop {
            let page = store.load_all::<AnyExecution>(&query).await?;
            for execution in page.items {
                calls.push(Made::of(&execution?));
            }
            match page.next {
                Some(next) => query = query.after(next),
                None => return Ok(Self(calls)),
            }
        }
    }

    /// Returns whether one of them has not ended.
    pub fn are_open(&self) -> bool {
        self.0.iter().any(|call| !call.has_ended())
    }

    /// Calls that have not begun.
    pub fn pending(&self) -> impl Iterator<Item = Id> {
        self.0.iter().filter(|call| call.progress == Progress::Pending).map(|call| call.id)
    }

    /// The number of attempts of a turn, and the error of the last one if it failed.
    pub fn of_turn(&self, turn: u32) -> (usize, Option<&str>) {
        let attempts = self.0.iter().filter(|call| call.turn == u64::from(turn));
        let error = attempts.clone().next_back().and_then(|call| match &call.progress {
            Progress::Failed(error) => Some(&**error),
            Progress::Pending | Progress::Begun | Progress::Succeeded(_) => None,
        });
        (attempts.count(), error)
    }

    /// The last result since a turn.
    pub fn result_since(&self, turn: u32) -> Option<&str> {
        let calls = self.0.iter().rev().filter(|call| call.turn >= u64::from(turn));
        calls.into_iter().find_map(|call| match &call.progress {
            Progress::Succeeded(result) => Some(&**result),
            Progress::Pending | Progress::Begun | Progress::Failed(_) => None,
        })
    }

    /// Returns whether this irreversible call has taken effect in the task.
    pub fn have(&self, contract: &Contract) -> bool {
        let same =
            |call: &&Made| call.key.is_some() && call.key.as_ref() == contract.idempotency_key();
        self.0.iter().filter(same).any(|call| matches!(call.progress, Progress::Succeeded(_)))
    }

    /// A line for each call that has ended, for people.
    pub fn history(&self) -> Vec<String> {
        self.ended().map(|call| call.told.clone()).collect()
    }

    /// A line for each call that has ended, for the prompt of a model.
    pub fn prompt(&self) -> Vec<String> {
        self.ended().map(|call| call.line.clone()).collect()
    }

    /// A line for each call, for the record: some may still be under way when a task is ended.
    pub fn account(&self) -> Vec<String> {
        self.0.iter().map(|call| call.told.clone()).collect()
    }

    fn ended(&self) -> impl Iterator<Item = &Made> {
        self.0.iter().filter(|call| call.has_ended())
    }

    /// The tools that have succeeded, in order.
    pub fn done(&self) -> Vec<String> {
        let done = |call: &Made| matches!(call.progress, Progress::Succeeded(_));
        self.0.iter().filter(|call| done(call)).map(|call| call.tool.clone()).collect()
    }

    /// The last result of each tool.
    pub fn results(&self) -> BTreeMap<String, String> {
        let result = |call: &Made| match &call.progress {
            Progress::Succeeded(result) => Some((call.tool.clone(), result.clone())),
            Progress::Pending | Progress::Begun | Progress::Failed(_) => None,
        };
        self.0.iter().filter_map(result).collect()
    }
}

impl Made {
    fn has_ended(&self) -> bool {
        matches!(self.progress, Progress::Succeeded(_) | Progress::Failed(_))
    }

    fn of(execution: &AnyExecution) -> Self {
        let contract = execution.context();
        let progress = match execution {
            AnyExecution::Pending(_) => Progress::Pending,
            AnyExecution::Running(_) | AnyExecution::Waiting(_) => Progress::Begun,
            AnyExecution::Completed(it) => Progress::Succeeded(it.state().result.clone()),
            AnyExecution::Failed(it) => Progress::Failed(it.state().error.clone()),
            AnyExecution::Rejected(it) => Progress::Failed(it.state().reason.clone()),
            AnyExecution::Cancelled(it) => Progress::Failed(it.state().reason.clone()),
        };
        let summary = contract.summary();
        Self {
            id: execution.id(),
            key: contract.idempotency_key().cloned(),
            tool: contract.action().tool_name().unwrap_or_default(),
            turn: contract.metadata().get(TURN).and_then(serde_json::Value::as_u64).unwrap_or(0),
            told: match &progress {
                Progress::Pending => format!("{summary}: not begun"),
                Progress::Begun => format!("{summary}: under way"),
                Progress::Succeeded(result) => format!("{summary}: {result}"),
                Progress::Failed(error) => format!("{summary}: failed: {error}"),
            },
            progress,
            line: ConsequenceView::of(execution).to_string(),
        }
    }
}
