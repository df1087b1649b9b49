//! Executions that end because of what a batch writes: in the same batch, for every writer.

use serde_json::Value;

use crate::{
    __private::{Who, who},
    actor::{Actor, EcsNode, GraphRunner, Human},
    contract::{
        AnyExecution, Execution, Gate, bounded, close,
        execution::{self, Cancelled, Status},
    },
    effects::leave::Left,
    id::Id,
    store::{
        backend::{Child, Condition, Found},
        error::{CommitError, LoadError},
        handle::Store,
        write::prepare::Prepared,
    },
};

/// The executions that end with a batch, and what must hold when it is written.
#[derive(Default)]
pub(crate) struct Consequences {
    pub(crate) ended: Vec<Execution<Cancelled>>,
    pub(crate) conditions: Vec<Condition>,
    /// Executions that are left out if another commit came first: a call that begins, and a gate that is answered.
    pub(crate) yielding: Vec<Id>,
}

/// The machine that ends with an execution.
enum Ends<'a> {
    /// The action of a gate that ended without an approval. It never runs.
    Action { id: Id, gate: Id, answered_by: Option<&'a str> },
    /// The gate of an action that was cancelled before it began: nothing is left to approve.
    Gate { id: Id, action: Id },
}

impl<'a> Ends<'a> {
    fn of(Prepared { write, index, .. }: &'a Prepared) -> Option<Self> {
        let row = &write.row;
        if let (true, Some(gate)) = (index.closed, index.behind) {
            return Some(Self::Gate { id: gate, action: row.id });
        }
        let approves = index.approves.as_ref()?;
        let is_refused = row.ended && row.status.parse() != Ok(Status::Completed);
        let answered_by = approves.decision.as_ref().map(|decision| &*decision.by);
        is_refused.then_some(Self::Action { id: approves.execution, gate: row.id, answered_by })
    }

    fn id(&self) -> Id {
        match self {
            Self::Action { id, .. } | Self::Gate { id, .. } => *id,
        }
    }
}

impl Store {
    /// Adds to a batch what ends with it. One that cannot be read keeps nothing else from ending.
    pub(crate) async fn consequences(
        &self,
        left: &[Left],
        batch: &mut Vec<Prepared>,
        commit_id: i64,
    ) -> Result<Consequences, CommitError> {
        let mut found = Consequences::default();
        for left in left {
            self.end_calls(left, batch, &mut found, commit_id).await?;
        }
        // Machines that are added have consequences, too.
        let mut position = 0;
        while let Some(written) = batch.get(position) {
            position += 1;
            let Some(ends) = Ends::of(written) else { continue };
            if is_in(batch, ends.id()) {
                continue;
            }
            let yields = matches!(ends, Ends::Gate { .. });
            let row = &written.write.row;
            let state: Value = serde_json::from_str(&row.state).unwrap_or_default();
            let reason = state["reason"].as_str().unwrap_or(&row.status);
            let Some(machine) = self.end_with(&ends, reason).await? else { continue };
            if yields {
                found.yielding.push(machine.id());
            }
            self.add(machine, batch, &mut found, commit_id)?;
        }
        Ok(found)
    }

    fn add(
        &self,
        mut machine: Execution<Cancelled>,
        batch: &mut Vec<Prepared>,
        found: &mut Consequences,
        commit_id: i64,
    ) -> Result<(), CommitError> {
        batch.extend(self.prepare(&mut machine, false, commit_id)?);
        found.ended.push(machine);
        Ok(())
    }

    async fn end_with(
        &self,
        ends: &Ends<'_>,
        reason: &str,
    ) -> Result<Option<Execution<Cancelled>>, CommitError> {
        Ok(match (ends, self.readable(ends.id()).await?) {
            (Ends::Action { gate, answered_by, .. }, Some(AnyExecution::Pending(pending)))
                if pending.context().behind() == Some(*gate) =>
            {
                // The name in the decision was valid when it was recorded.
                let person = answered_by.and_then(|name| Human::new(name).ok());
                let by = person.as_ref().map_or(who(&EcsNode::STORE), who);
                Some(close(pending, &format!("not approved: {reason}"), by, &EcsNode::STORE))
            }
            (Ends::Gate { action, .. }, Some(any)) => Gate::narrow(any)
                .ok()
                .filter(|gate| gate.approval().execution() == *action)
                .map(|gate| gate.fork().cancel(bounded(reason.to_owned()), &GraphRunner::STORE)),
            _ => None,
        })
    }

    /// Ends the calls of a state that a person has left, as far as they have not begun.
    async fn end_calls(
        &self,
        left: &Left,
        batch: &mut Vec<Prepared>,
        found: &mut Consequences,
        commit_id: i64,
    ) -> Result<(), CommitError> {
        if left.is_retried && self.has_moved(left).await? {
            return Ok(());
        }
        // A call that cannot be read cannot begin either, so it does not keep a person from moving the machine.
        let children = self.inner.backend.children(left.machine).await?;
        let pending = children.iter().flatten().filter(|child| has_not_begun(child));
        let known: Vec<Id> = pending.map(|child| child.id).collect();
        for id in &known {
            if is_in(batch, *id) {
                continue;
            }
            // It may have begun since the list was read.
            let Some(AnyExecution::Pending(pending)) = self.readable(*id).await? else { continue };
            if let Some(gate) = pending.context().behind().filter(|gate| !is_in(batch, *gate)) {
                let ends = Ends::Gate { id: gate, action: *id };
                if let Some(gate) = self.end_with(&ends, &left.reason).await? {
                    found.yielding.push(gate.id());
                    self.add(gate, batch, found, commit_id)?;
                }
            }
            let person = Who { kind: Human::KIND, name: left.name.as_deref() };
            found.yielding.push(*id);
            let ended = close(pending, &left.reason, person, &EcsNode::STORE);
            self.add(ended, batch, found, commit_id)?;
        }
        if children.iter().all(Result::is_ok) {
            found.conditions.push(Condition::NoOtherChild {
                parent: left.machine,
                machine: execution::DEFINITION.name.to_string(),
                status: Status::Pending.to_string(),
                known,
            });
        }
        Ok(())
    }

    /// Returns whether an earlier try, whose answer was lost, has written the move.
    async fn has_moved(&self, left: &Left) -> Result<bool, CommitError> {
        let row = self.inner.backend.rows(vec![left.machine]).await?.pop();
        Ok(matches!(row, Some(Found::Row(row, _)) if row.version > left.version))
    }

    /// An execution; `None` if it cannot be read.
    async fn readable(&self, id: Id) -> Result<Option<AnyExecution>, CommitError> {
        match Box::pin(self.load::<AnyExecution>(id)).await {
            Ok(execution) => Ok(Some(execution)),
            Err(LoadError::Unavailable(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}

/// Returns whether the batch writes this machine already.
fn is_in(batch: &[Prepared], id: Id) -> bool {
    batch.iter().any(|prepared| prepared.write.row.id == id)
}

fn has_not_begun(child: &Child) -> bool {
    child.machine == execution::DEFINITION.name && child.status.parse() == Ok(Status::Pending)
}
