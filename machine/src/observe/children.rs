use serde::Serialize;

use super::{NextStep, Observer, Overview};
use crate::view::{Human, Label};
use crate::{
    contract::{AnyExecution, execution, waits_for},
    id::Id,
    store::{Child, LoadError},
};

const MAX_DETAILED: usize = 50;

/// A machine started by another machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct ChildView {
    /// The machine.
    pub id: Id,
    /// Its kind.
    pub machine: String,
    /// The state's name.
    pub status: String,
    /// True if it has ended.
    pub has_ended: bool,
    /// Details of what it waits for, while it has not ended; only for the first 50 open children.
    pub open: Option<OpenChild>,
}

/// An open child, with the reason why it waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct OpenChild {
    /// The state as lists show it, such as `DEFERRED`.
    pub label: String,
    /// Its subject, such as `email.send → bob@example.com`.
    pub summary: String,
    /// The gate that a person has to answer.
    pub gate: Option<Id>,
    /// The question to a person: its own, or that of the gate.
    pub question: Option<String>,
    /// The need that no live worker meets, such as a tool, and what to do about it.
    pub missing: Option<String>,
    /// The actions that a person can take.
    pub next: Vec<NextStep>,
}

impl Observer {
    /// These children of a machine, with what the open ones wait for.
    pub(super) async fn children_of(&self, all: Vec<Child>) -> Result<Vec<ChildView>, LoadError> {
        let (mut children, mut open) = (Vec::new(), 0);
        for Child { id, machine, status, has_ended, .. } in all {
            let is_shown = !has_ended && open < MAX_DETAILED;
            open += usize::from(is_shown);
            let open = if is_shown { self.open(id).await? } else { None };
            children.push(ChildView { id, machine, status, has_ended, open });
        }
        Ok(children)
    }

    /// The actions that people can take on the open children of a machine.
    pub(crate) async fn next_of_children(&self, id: Id) -> Result<Vec<NextStep>, LoadError> {
        let children = self.children_of(self.store.children(id).await?).await?.into_iter();
        Ok(children.filter_map(|child| child.open).flat_map(|open| open.next).collect())
    }

    /// `None` if it cannot be read.
    async fn open(&self, id: Id) -> Result<Option<OpenChild>, LoadError> {
        let opened = async {
            let observed = self.store.observed_one(id).await?;
            let next = self.next(id).await?;
            let need = self.store.need_of(id).await?;
            let missing = need.and_then(|need| need.unmet).map(|unmet| unmet.to_string());
            if observed.definition.name != execution::DEFINITION.name {
                let now = self.store.now();
                let one = Overview::<Human>::of_subject(&observed.subject(&self.own), None, now);
                let Overview { label, summary, .. } = one;
                return Ok(OpenChild { label, summary, gate: None, question: None, missing, next });
            }
            let execution = self.store.execution_of(observed).await?;
            let label = Label::of(&execution).to_string();
            let summary = execution.context().summary_in(self.language).into_owned();
            let (gate, open) = self.deferred_by(&execution).await?;
            let question = match &execution {
                AnyExecution::Waiting(asks) => Some(waits_for(asks, self.language)),
                _ => open.map(|gate| gate.question_in(self.language).into_owned()),
            };
            Ok(OpenChild { label, summary, gate, question, missing, next })
        };
        Ok(LoadError::readable(opened.await)?)
    }
}
