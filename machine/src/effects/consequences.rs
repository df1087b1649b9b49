//! Executions that end as a consequence of a batch: in the same batch, for every writer.

use serde_json::Value;

use crate::{
    actor::who::{Who, who},
    actor::{EcsNode, GraphRunner, Human},
    contract::{
        AnyExecution, Closing, Execution, Gate, NOT_APPROVED, bounded, close,
        execution::{Cancelled, Status},
    },
    effects::{
        error::EffectError,
        leave::{Left, WaitsFor},
    },
    id::Id,
    store::{
        backend::{Condition, FoundRow, Kinship, Row},
        error::LoadError,
        handle::Store,
        operation::Act,
        write::prepare::Prepared,
    },
    stored::Hold,
};

/// The executions that end with a batch, and what must hold when it is written.
#[derive(Default)]
pub(crate) struct BatchConsequences {
    pub(crate) ended: Vec<Execution<Cancelled>>,
    pub(crate) conditions: Vec<Condition>,
    /// Gates that are left out if another commit has answered them first. Those of the calls of a
    /// state do not yield: then the batch is decided again.
    pub(crate) yielding: Vec<Id>,
    /// Calls that are no longer a part of an invocation.
    pub(crate) let_go: Vec<(Id, Kinship)>,
}

/// The machine that ends with an execution.
enum Ends<'a> {
    /// The action of a gate that ended without an approval, perhaps by this person. It never runs.
    Action { id: Id, gate: Id, person: Option<&'a str>, cause: Closing },
    /// The gate of an action that was cancelled before it began: nothing is left to approve.
    Gate { id: Id, action: Id },
}

impl<'a> Ends<'a> {
    fn of(Prepared { write, index, stored, .. }: &'a Prepared, acts: &'a [Act]) -> Option<Self> {
        let row = &write.row;
        if let (true, Some(gate)) = (index.closed, index.behind) {
            return Some(Self::Gate { id: gate, action: row.id });
        }
        let approves = index.approves.as_ref()?;
        let is_refused = row.ended && row.status.parse() != Ok(Status::Completed);
        if !is_refused {
            return None;
        }
        let mut person = approves.decision.as_ref().map(|decision| &*decision.by);
        let trigger = stored.summary.last_trigger.as_deref();
        let mut cause = Closing::of_gate(approves.decision.as_ref(), &reason_of(row), trigger);
        // The gate is moved by the program that carries out what the person said.
        if let Closing::Cancelled { .. } = cause
            && let Some(act) = acts.iter().find(|act| act.machines.contains(&row.id))
        {
            person = Some(&act.by);
            cause = Closing::Cancelled { by: Some(act.by.clone()), by_person: true };
        }
        Some(Self::Action { id: approves.execution, gate: row.id, person, cause })
    }

    fn id(&self) -> Id {
        match self {
            Self::Action { id, .. } | Self::Gate { id, .. } => *id,
        }
    }
}

impl Store {
    /// Adds to a batch the executions that end with it. An unreadable one does not keep others from
    /// ending.
    pub(crate) async fn consequences(
        &self,
        left: &[Left],
        acts: &[Act],
        batch: &mut Vec<Prepared>,
        commit_id: i64,
    ) -> Result<BatchConsequences, EffectError> {
        let mut found = BatchConsequences::default();
        for left in left {
            self.end_what_it_leaves(left, batch, &mut found, commit_id).await?;
        }
        // Machines that are added have consequences, too.
        let mut position = 0;
        while let Some(written) = batch.get(position) {
            position += 1;
            let Some(ends) = Ends::of(written, acts) else { continue };
            if is_in(batch, ends.id()) {
                continue;
            }
            let yields = matches!(ends, Ends::Gate { .. });
            let reason = reason_of(&written.write.row);
            let Some(machine) = self.end_with(&ends, &reason).await? else { continue };
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
        found: &mut BatchConsequences,
        commit_id: i64,
    ) -> Result<(), EffectError> {
        batch.extend(self.prepare(&mut machine, false, (commit_id, self.now()))?);
        found.ended.push(machine);
        Ok(())
    }

    async fn end_with(
        &self,
        ends: &Ends<'_>,
        reason: &str,
    ) -> Result<Option<Execution<Cancelled>>, EffectError> {
        Ok(match (ends, self.readable(ends.id()).await?) {
            (Ends::Action { gate, person, cause, .. }, Some(AnyExecution::Pending(pending)))
                if pending.context().behind() == Some(*gate) =>
            {
                // The name was valid when the decision was made.
                let person = person.and_then(|name| Human::new(name).ok());
                let by = person.as_ref().map_or(who(&EcsNode::STORE), who);
                let reason = match cause {
                    Closing::Cancelled { by_person: true, .. } => reason.to_owned(),
                    _ => format!("{NOT_APPROVED}{reason}"),
                };
                Some(close(pending, (&reason, cause.clone()), by, &EcsNode::STORE))
            }
            (Ends::Gate { action, .. }, Some(any)) => Gate::narrow(any)
                .ok()
                .filter(|gate| gate.approval().execution() == *action)
                .map(|gate| gate.fork().cancel(bounded(reason.to_owned()), &GraphRunner::STORE)),
            _ => None,
        })
    }

    /// Ends what a move leaves: the calls of the state and the visit.
    async fn end_what_it_leaves(
        &self,
        left: &Left,
        batch: &mut Vec<Prepared>,
        found: &mut BatchConsequences,
        commit_id: i64,
    ) -> Result<(), EffectError> {
        if left.is_retried && self.has_moved(left).await? {
            return Ok(());
        }
        self.let_go(left, batch, found, commit_id).await?;
        if let Some(written) = batch.iter_mut().find(|it| it.write.row.id == left.machine) {
            written.write.left = left.visit;
        }
        Ok(())
    }

    /// Ends the calls of the state that was left, as far as they have not begun. Those that can be
    /// repeated are let go; for others, the move waits or detaches them.
    async fn let_go(
        &self,
        left: &Left,
        batch: &mut Vec<Prepared>,
        found: &mut BatchConsequences,
        commit_id: i64,
    ) -> Result<(), EffectError> {
        let parent = left.machine;
        if let Some(since) = left.since {
            for call in self.inner.backend.calls(parent, since).await?.into_iter().flatten() {
                if call.has_ended || call.hold == Hold::Held {
                    continue;
                }
                if call.status.parse() == Ok(Status::Pending) {
                    self.end_call(call.id, left, batch, found, commit_id).await?;
                    // It has begun since it was read: the next entry joins it.
                    if !is_in(batch, call.id) {
                        continue;
                    }
                }
                let let_go = Kinship { parent, since: call.since, position: None };
                found.let_go.push((call.id, let_go));
            }
        }
        if let Some(waits) = left.waits {
            let since = left.since.filter(|_| waits == WaitsFor::State);
            found.conditions.push(Condition::NoCallUnderWay { parent, since, except: Vec::new() });
        }
        Ok(())
    }

    /// Ends a call that has not begun, with its gate.
    async fn end_call(
        &self,
        id: Id,
        left: &Left,
        batch: &mut Vec<Prepared>,
        found: &mut BatchConsequences,
        commit_id: i64,
    ) -> Result<(), EffectError> {
        // It may have begun since it was read.
        let Some(AnyExecution::Pending(pending)) = self.readable(id).await? else { return Ok(()) };
        if let Some(gate) = pending.context().behind().filter(|gate| !is_in(batch, *gate)) {
            let ends = Ends::Gate { id: gate, action: id };
            if let Some(gate) = self.end_with(&ends, &left.reason).await? {
                self.add(gate, batch, found, commit_id)?;
            }
        }
        let by = Who { kind: left.kind, name: left.name.as_deref() };
        let ended = close(pending, (&left.reason, Closing::cancelled(by)), by, &EcsNode::STORE);
        self.add(ended, batch, found, commit_id)
    }

    /// Returns whether an earlier try, whose answer was lost, has written the move.
    async fn has_moved(&self, left: &Left) -> Result<bool, EffectError> {
        let found = self.found(left.machine).await?;
        Ok(matches!(found, FoundRow::Row(row, _) if row.version > left.version))
    }

    /// An execution; `None` if it cannot be read.
    async fn readable(&self, id: Id) -> Result<Option<AnyExecution>, EffectError> {
        match Box::pin(self.load::<AnyExecution>(id)).await {
            Ok(execution) => Ok(Some(execution)),
            Err(LoadError::Unavailable(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}

/// The reason in the state of an execution that ended; otherwise its status.
fn reason_of(row: &Row) -> String {
    let state: Value = serde_json::from_str(&row.state).unwrap_or_default();
    state["reason"].as_str().unwrap_or(&row.status).to_owned()
}

/// Returns whether the batch writes this machine already.
fn is_in(batch: &[Prepared], id: Id) -> bool {
    batch.iter().any(|prepared| prepared.write.row.id == id)
}
