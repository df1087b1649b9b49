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

/// A batch, with what ends with it so far.
struct Ending<'a> {
    store: &'a Store,
    batch: &'a mut Vec<Prepared>,
    found: BatchConsequences,
    commit_id: i64,
}

impl Store {
    /// Adds to a batch the executions that end with it. An unreadable one does not keep others from
    /// ending.
    pub(super) async fn consequences(
        &self,
        left: &[Left],
        acts: &[Act],
        batch: &mut Vec<Prepared>,
        commit_id: i64,
    ) -> Result<BatchConsequences, EffectError> {
        let found = BatchConsequences::default();
        let mut ending = Ending { store: self, batch, found, commit_id };
        for left in left {
            ending.end_what_it_leaves(left).await?;
        }
        // Machines that are added have consequences, too.
        let mut position = 0;
        while let Some(written) = ending.batch.get(position) {
            position += 1;
            let Some(ends) = Ends::of(written, acts) else { continue };
            if ending.has(ends.id()) {
                continue;
            }
            let reason = reason_of(&written.write.row);
            let Some(machine) = self.end_with(&ends, &reason).await? else { continue };
            ending.add(machine)?;
        }
        Ok(ending.found)
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
}

impl Ending<'_> {
    fn has(&self, id: Id) -> bool {
        self.batch.iter().any(|prepared| prepared.write.row.id == id)
    }

    fn add(&mut self, mut machine: Execution<Cancelled>) -> Result<(), EffectError> {
        let commit = (self.commit_id, self.store.now());
        self.batch.extend(self.store.prepare(&mut machine, false, commit)?);
        self.found.ended.push(machine);
        Ok(())
    }

    /// Ends what a move leaves: the calls of the state and the visit.
    async fn end_what_it_leaves(&mut self, left: &Left) -> Result<(), EffectError> {
        // An earlier try, whose answer was lost, may have written the move.
        if left.is_retried
            && let FoundRow::Row(row, _) = self.store.found(left.machine).await?
            && row.version > left.version
        {
            return Ok(());
        }
        self.let_go(left).await?;
        if let Some(written) = self.batch.iter_mut().find(|it| it.write.row.id == left.machine) {
            written.write.left = left.visit;
        }
        Ok(())
    }

    /// Ends the calls of the state that was left, as far as they have not begun. Those that can be
    /// repeated are let go; for others, the move waits or detaches them.
    async fn let_go(&mut self, left: &Left) -> Result<(), EffectError> {
        let (parent, backend) = (left.machine, &self.store.inner.backend);
        if let Some(since) = left.since {
            for call in backend.calls(parent, since).await?.into_iter().flatten() {
                if call.ended_at.is_some() || call.hold == Hold::Held {
                    continue;
                }
                if call.status.parse() == Ok(Status::Pending) {
                    self.end_call(call.id, left).await?;
                    // It has begun since it was read: the next entry joins it.
                    if !self.has(call.id) {
                        continue;
                    }
                }
                let let_go = Kinship { parent, since: call.since, position: None };
                self.found.let_go.push((call.id, let_go));
            }
        }
        if let Some(waits) = left.waits {
            let since = left.since.filter(|_| waits == WaitsFor::State);
            let condition = Condition::NoCallUnderWay { parent, since, except: Vec::new() };
            self.found.conditions.push(condition);
        }
        Ok(())
    }

    /// Ends a call that has not begun. Its gate ends as a consequence.
    async fn end_call(&mut self, id: Id, left: &Left) -> Result<(), EffectError> {
        // It may have begun since it was read.
        let call = self.store.readable(id).await?;
        let Some(AnyExecution::Pending(pending)) = call else { return Ok(()) };
        let by = Who { kind: left.kind, name: left.name.as_deref() };
        self.add(close(pending, (&left.reason, Closing::cancelled(by)), by, &EcsNode::STORE))
    }
}

/// The reason in the state of an execution that ended; otherwise its status.
fn reason_of(row: &Row) -> String {
    let state: Value = serde_json::from_str(&row.state).unwrap_or_default();
    state["reason"].as_str().unwrap_or(&row.status).to_owned()
}
