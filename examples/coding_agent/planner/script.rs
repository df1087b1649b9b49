use serde::{Deserialize, Serialize};

use super::{Brief, Planner, Reply, Rung};
use crate::{
    plan::{
        model::{Plan, Step},
        trouble::Trouble,
    },
    workspace::tools::Lookup,
};

/// A planner that follows a script.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Each line that a person adds to the goal answers one.
    pub questions: Vec<String>,
    pub reads: Vec<Lookup>,
    pub plan: Plan,
    pub repairs: Vec<(Rung, Vec<Step>)>,
}

impl Planner for Script {
    async fn questions(&self, brief: &Brief) -> Reply<Vec<String>> {
        let answers = brief.goal.split('\n').count().saturating_sub(brief.work.lines);
        Ok(Ok(self.questions.iter().skip(answers).cloned().collect()))
    }

    async fn reads(&self, _: &Brief) -> Reply<Vec<Lookup>> {
        Ok(Ok(self.reads.clone()))
    }

    async fn plan(&self, _: &Brief) -> Reply<Plan> {
        Ok(Ok(self.plan.clone()))
    }

    async fn repair(&self, _: &Brief, _: &Trouble, rung: Rung) -> Reply<Option<Vec<Step>>> {
        let repair = self.repairs.iter().find(|(kind, _)| *kind == rung);
        Ok(Ok(repair.map(|(_, steps)| steps.clone())))
    }
}
