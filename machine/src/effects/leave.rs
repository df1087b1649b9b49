//! A person who moves a machine on to another state ends the calls of the state that it leaves, as far as they
//! have not begun.

use crate::{
    __private::Who,
    actor::{Actor, Category, EcsNode, Human},
    contract::{
        AnyExecution, Execution, close,
        execution::{self, Cancelled, Status},
    },
    definition::Definition,
    id::Id,
    journal::Fact,
    store::{
        backend::{Child, Condition, Found},
        error::{CommitError, LoadError},
        handle::Store,
        write::prepare::Prepared,
    },
    stored::Durable,
};

/// A move of a person that a batch is about to write.
pub(crate) struct Left {
    machine: Id,
    name: Option<Box<str>>,
    reason: String,
    /// The version before the move, and whether an earlier try of the batch may have written it.
    version: u64,
    is_retried: bool,
}

/// The calls that end with it, and their gates, in the order of the calls.
#[derive(Default)]
pub(crate) struct Ended {
    pub(crate) machines: Vec<Execution<Cancelled>>,
    /// No call was added since they were read.
    pub(crate) conditions: Vec<Condition>,
}

impl Left {
    /// The last move of a person to another state, if there is one that is not written yet.
    pub(crate) fn of(machine: &dyn Durable) -> Option<Self> {
        let journal = machine.journal();
        // An execution has no calls; its own rules say what its gate does.
        if journal.stored().version == 0 || machine.definition().name == execution::DEFINITION.name
        {
            return None;
        }
        journal.uncommitted().iter().rev().find_map(|entry| match &entry.fact {
            Fact::Moved { from, to, trigger, .. }
                if from != to && is_person(machine.definition(), entry.actor.as_deref()) =>
            {
                let of = &machine.definition().name;
                Some(Self {
                    machine: journal.id(),
                    name: entry.by.clone(),
                    reason: format!(
                        "a person moved the {of} to `{to}` by `{trigger}` before the call began"
                    ),
                    version: journal.stored().version,
                    is_retried: journal.stored().commit_id.is_some(),
                })
            }
            _ => None,
        })
    }
}

impl Store {
    /// Adds what ends with the moves of people in a batch, beside what is in it already.
    pub(crate) async fn ended_by(
        &self,
        left: &[Left],
        batch: &mut Vec<Prepared>,
        commit_id: i64,
    ) -> Result<Ended, CommitError> {
        let mut ended = Ended::default();
        if left.is_empty() {
            return Ok(ended);
        }
        let own: Vec<Id> = batch.iter().map(|prepared| prepared.write.row.id).collect();
        for left in left {
            if left.is_retried && self.has_moved(left).await? {
                continue;
            }
            // What cannot be read cannot begin either, and keeps no person from moving the machine.
            let children = self.inner.backend.children(left.machine).await?;
            let pending = children.iter().flatten().filter(|child| has_not_begun(child));
            let known: Vec<Id> = pending.map(|child| child.id).collect();
            for id in known.iter().filter(|id| !own.contains(id)) {
                Box::pin(self.end_call(*id, left, &mut ended.machines)).await?;
            }
            ended.machines.retain(|machine| !own.contains(&machine.id()));
            if children.iter().all(Result::is_ok) {
                ended.conditions.push(Condition::NoOtherChild {
                    parent: left.machine,
                    machine: execution::DEFINITION.name.to_string(),
                    status: Status::Pending.to_string(),
                    known,
                });
            }
        }
        for call in &mut ended.machines {
            batch.extend(self.prepare(call, false, commit_id)?);
        }
        Ok(ended)
    }

    async fn end_call(
        &self,
        id: Id,
        left: &Left,
        ended: &mut Vec<Execution<Cancelled>>,
    ) -> Result<(), CommitError> {
        let pending = match self.load::<AnyExecution>(id).await {
            Ok(AnyExecution::Pending(pending)) => pending,
            Err(LoadError::Unavailable(error)) => return Err(error.into()),
            // It has begun in the meantime, or cannot be read.
            Ok(_) | Err(_) => return Ok(()),
        };
        let gate = pending.context().behind();
        if let Some(gate) = self.withdrawn_gate(gate, id, &left.reason).await?
            && ended.iter().all(|other| other.id() != gate.id())
        {
            ended.push(gate);
        }
        let person = Who { kind: Human::KIND, name: left.name.as_deref() };
        ended.push(close(pending, &left.reason, person, &EcsNode::STORE));
        Ok(())
    }

    /// Whether an earlier try, whose answer was lost, has written the move.
    async fn has_moved(&self, left: &Left) -> Result<bool, CommitError> {
        let row = self.inner.backend.rows(vec![left.machine]).await?.pop();
        Ok(matches!(row, Some(Found::Row(row, _)) if row.version > left.version))
    }
}

/// Whether actors of this kind are people: [`Human`], and those of the program that are of that category.
fn is_person(definition: &Definition, kind: Option<&str>) -> bool {
    let mut actors = definition.actors.iter();
    actors.any(|actor| Some(&*actor.kind) == kind && actor.category == Category::Human)
}

fn has_not_begun(child: &Child) -> bool {
    child.machine == execution::DEFINITION.name && child.status.parse() == Ok(Status::Pending)
}
