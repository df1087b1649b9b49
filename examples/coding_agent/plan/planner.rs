use std::future::Future;

use machine::worker::Failure;
use serde::{Deserialize, Serialize};

use super::{
    model::{Plan, Step},
    trouble::Trouble,
    work::Work,
};
use crate::workspace::tools::Read;

/// What a planner answers. An error means that it cannot be asked now: the worker asks again later.
pub type Reply<T> = Result<T, Failure>;

/// Says what to do. What it answers has no effect until it is checked and, if it is dangerous,
/// confirmed.
pub trait Planner: Send + Sync + 'static {
    /// The questions without whose answers it cannot plan.
    fn questions(&self, goal: &str) -> impl Future<Output = Reply<Vec<String>>> + Send;

    /// What it has to read first.
    fn reads(&self, goal: &str) -> impl Future<Output = Reply<Vec<Read>>> + Send;

    fn plan(&self, goal: &str, work: &Work) -> impl Future<Output = Reply<Plan>> + Send;

    /// The steps of a repair of this kind; `None` if it knows none.
    fn repair(
        &self,
        work: &Work,
        trouble: &Trouble,
        rung: Rung,
    ) -> impl Future<Output = Reply<Option<Vec<Step>>>> + Send;
}

/// The kinds of repairs, the smallest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Steps after what was done.
    Smallest,
    /// The newest edits are undone before that.
    RollBack,
    /// The steps that are left are replaced.
    Replan,
}

/// A planner that follows a script.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Each line that a person adds to the goal answers one.
    pub questions: Vec<String>,
    pub reads: Vec<Read>,
    pub plan: Plan,
    pub repairs: Vec<(Rung, Vec<Step>)>,
}

impl Planner for Script {
    async fn questions(&self, goal: &str) -> Reply<Vec<String>> {
        let answers = goal.lines().count().saturating_sub(1);
        Ok(self.questions.iter().skip(answers).cloned().collect())
    }

    async fn reads(&self, _goal: &str) -> Reply<Vec<Read>> {
        Ok(self.reads.clone())
    }

    async fn plan(&self, goal: &str, _work: &Work) -> Reply<Plan> {
        Ok(Plan { goal: goal.to_owned(), ..self.plan.clone() })
    }

    async fn repair(&self, _: &Work, _: &Trouble, rung: Rung) -> Reply<Option<Vec<Step>>> {
        let repair = self.repairs.iter().find(|(kind, _)| *kind == rung);
        Ok(repair.map(|(_, steps)| steps.clone()))
    }
}
