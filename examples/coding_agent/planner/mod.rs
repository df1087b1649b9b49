//! Planners say what to do: a [`script`], or a model behind a server with the chat API of
//! [OpenAI](openai). [`context`] is what a model reads, and [`stream`] what it answers.

use std::future::Future;

use machine::worker::Failure;
use serde::{Deserialize, Serialize};

use crate::{
    plan::{
        model::{Plan, Step},
        trouble::Trouble,
        work::Work,
    },
    workspace::{place::Place, tools::Lookup},
};

pub mod context;
pub mod openai;
pub mod script;
pub mod stream;

/// What a planner answers, or why its answers cannot be used. A failure means that it cannot be
/// asked now: the worker asks again later, unless it is a [`Trouble`], such as a wrong key.
pub type Reply<T> = Result<Result<T, Trouble>, Failure>;

/// What a planner is asked about.
#[derive(Debug, Clone)]
pub struct Brief {
    /// The job and the visit of its state. A worker that asks again in a visit can get the answer
    /// that is there.
    pub visit: String,
    pub goal: String,
    pub work: Work,
    /// The files of the folder, those near the top first.
    pub files: Vec<Place>,
}

/// Says what to do. What it answers has no effect until it is checked and, if it is dangerous,
/// confirmed.
pub trait Planner: Send + Sync + 'static {
    /// The questions without whose answers it cannot plan.
    fn questions(&self, brief: &Brief) -> impl Future<Output = Reply<Vec<String>>> + Send;

    /// What it has to read or find first.
    fn reads(&self, brief: &Brief) -> impl Future<Output = Reply<Vec<Lookup>>> + Send;

    fn plan(&self, brief: &Brief) -> impl Future<Output = Reply<Plan>> + Send;

    /// The steps of a repair of this kind; `None` if it knows none.
    fn repair(
        &self,
        brief: &Brief,
        trouble: &Trouble,
        rung: Rung,
    ) -> impl Future<Output = Reply<Option<Vec<Step>>>> + Send;
}

/// The kinds of repairs, the smallest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Steps after what was done.
    Smallest,
    /// The newest edits are undone before that.
    RollBack,
    /// The steps that are left are replaced.
    Replan,
}
