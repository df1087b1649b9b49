use serde::Serialize;

use crate::{
    contract::{AnyExecution, Release, execution},
    id::Id,
    store::{self, LoadError},
    view::{self, NextStep, Observer, Overview},
};

/// How many open children are looked at.
const MOST: usize = 50;

/// A machine that another one has started.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
pub(crate) struct Child {
    /// The machine.
    id: Id,
    /// Its kind.
    machine: String,
    /// The state's name.
    status: String,
    /// Whether it has ended.
    has_ended: bool,
    /// What it waits for, while it has not ended; of many, only the first 50 have it.
    open: Option<Open>,
}

/// What a child waits for.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "http", schema(as = OpenChild))]
struct Open {
    /// The state as lists show it, such as `DEFERRED`.
    label: String,
    /// What it is about, such as `email.send → bob@example.com`.
    summary: String,
    /// The gate that a person has to answer.
    gate: Option<Id>,
    /// The question to a person: its own, or that of the gate.
    question: Option<String>,
    /// What it needs and no live worker has, and what to do about it.
    missing: Option<String>,
    /// What a person can do.
    next: Vec<NextStep>,
}

impl Observer {
    /// The children of a machine, with what the open ones wait for.
    pub(super) async fn children_of(&self, id: Id) -> Result<Vec<Child>, LoadError> {
        let (mut children, mut open) = (Vec::new(), 0);
        for store::Child { id, machine, status, has_ended, .. } in self.store.children(id).await? {
            let is_shown = !has_ended && open < MOST;
            open += usize::from(is_shown);
            let open = if is_shown { self.open(id).await? } else { None };
            children.push(Child { id, machine, status, has_ended, open });
        }
        Ok(children)
    }

    /// What people can do about the open children of a machine.
    pub(super) async fn next_of_children(&self, id: Id) -> Result<Vec<NextStep>, LoadError> {
        let children = self.children_of(id).await?.into_iter();
        Ok(children.filter_map(|child| child.open).flat_map(|open| open.next).collect())
    }

    /// `None` if it cannot be read.
    async fn open(&self, id: Id) -> Result<Option<Open>, LoadError> {
        let opened = async {
            let observed = self.store.observed_one(id).await?;
            let next = self.next(id).await?;
            let missing = self.store.undriven_one(id).await?.map(|needs| needs.say(self.language));
            if observed.definition.name != execution::DEFINITION.name {
                let now = self.store.now();
                let one = Overview::<view::Human>::of_subject(&observed.subject(&self.own), now);
                let Overview { label, summary, .. } = one;
                return Ok(Open { label, summary, gate: None, question: None, missing, next });
            }
            let execution = self.store.execution_of(observed).await?;
            let one = Overview::<view::Human>::of(&execution, self.language);
            let gate = execution.context().behind();
            let gate = gate.filter(|_| Release::of(&execution) == Some(Release::Deferred));
            let question = match (&execution, gate) {
                (AnyExecution::Waiting(asks), _) => {
                    Some(crate::contract::waits_for(asks, self.language))
                }
                (_, Some(gate)) => self
                    .store
                    .open_gate(gate)
                    .await?
                    .map(|gate| gate.question_in(self.language).into_owned()),
                (_, None) => None,
            };
            let Overview { label, summary, .. } = one;
            Ok(Open { label, summary, gate, question, missing, next })
        };
        match opened.await {
            Ok(open) => Ok(Some(open)),
            Err(LoadError::Unavailable(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}
