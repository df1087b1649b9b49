use std::collections::BTreeMap;

use machine::{
    Id,
    contract::AnyExecution,
    store::{LoadError, Query, Store},
    view::ConsequenceView,
};

/// The calls of a task so far, oldest first. They are executions in the session of the task.
#[derive(Debug, Clone)]
pub struct Calls(Vec<Made>);

/// A call that was made.
#[derive(Debug, Clone)]
pub struct Made {
    pub id: Id,
    pub tool: String,
    pub turn: u64,
    pub progress: Progress,
    /// What people see of it.
    pub told: String,
    /// What a model sees of it.
    pub line: String,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Not ended, also if it is in doubt.
    Open,
    Succeeded(String),
    /// With its error, or why it did not take place.
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

    /// Those that have not ended.
    pub fn open(&self) -> impl Iterator<Item = Id> {
        self.0.iter().filter(|call| call.progress == Progress::Open).map(|call| call.id)
    }

    /// The attempts of a turn.
    pub fn of_turn(&self, turn: u32) -> impl DoubleEndedIterator<Item = &Made> {
        self.0.iter().filter(move |call| call.turn == u64::from(turn))
    }

    /// A line for each call that has ended, for people.
    pub fn history(&self) -> Vec<String> {
        self.ended().map(|call| call.told.clone()).collect()
    }

    /// The same for the prompt of a model.
    pub fn prompt(&self) -> Vec<String> {
        self.ended().map(|call| call.line.clone()).collect()
    }

    fn ended(&self) -> impl Iterator<Item = &Made> {
        self.0.iter().filter(|call| call.progress != Progress::Open)
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
            Progress::Open | Progress::Failed(_) => None,
        };
        self.0.iter().filter_map(result).collect()
    }
}

impl Made {
    fn of(execution: &AnyExecution) -> Self {
        let contract = execution.context();
        let progress = match execution {
            AnyExecution::Pending(_) | AnyExecution::Running(_) | AnyExecution::Waiting(_) => {
                Progress::Open
            }
            AnyExecution::Completed(it) => Progress::Succeeded(it.state().result.clone()),
            AnyExecution::Failed(it) => Progress::Failed(it.state().error.clone()),
            AnyExecution::Rejected(it) => Progress::Failed(it.state().reason.clone()),
            AnyExecution::Cancelled(it) => Progress::Failed(it.state().reason.clone()),
        };
        let summary = contract.summary();
        Self {
            id: execution.id(),
            tool: contract.action().tool_name().unwrap_or_default(),
            turn: contract.metadata().get(TURN).and_then(serde_json::Value::as_u64).unwrap_or(0),
            told: match &progress {
                Progress::Open => format!("{summary}: under way"),
                Progress::Succeeded(result) => format!("{summary}: {result}"),
                Progress::Failed(error) => format!("{summary}: failed: {error}"),
            },
            progress,
            line: ConsequenceView::of(execution).to_string(),
        }
    }
}
