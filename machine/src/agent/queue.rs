//! The requests that need no worker.

use super::{
    ActiveTurn, AfterExecution, AgentId, BoxUse, EdgePhase, Measure, MemberId, NewTurn, Phase,
    Primitive, TurnId, TurnRecord, TurnRefusal, TurnStatus, Usage, Why,
    decide::{Draft, Held, next_epoch},
};
use crate::clock::Millis;

impl Draft<'_> {
    pub(super) fn enqueue(&mut self, new: &NewTurn, now: Millis) -> Result<(), TurnRefusal> {
        if self.is_repeated(new)? { Ok(()) } else { self.add(new, None, now) }
    }

    pub(super) fn ui_action(&mut self, new: &NewTurn, now: Millis) -> Result<(), TurnRefusal> {
        if self.is_repeated(new)? {
            return Ok(());
        }
        self.add(new, None, now)?;
        self.activate(&new.agent, new.id, now)
    }

    pub(super) fn dispatch(&mut self, agent: &AgentId, now: Millis) -> Result<(), TurnRefusal> {
        let is_queued =
            |record: &TurnRecord| record.agent == *agent && record.status == TurnStatus::Queued;
        let queued = self.rows.turns.iter().filter(|(_, record)| is_queued(record));
        let oldest = queued.min_by_key(|(turn, record)| (record.enqueued_at, **turn));
        if let Some((turn, _)) = oldest {
            return self.activate(agent, *turn, now);
        }
        Err(match &self.head(agent)?.active {
            Some(active) => TurnRefusal::Busy { turn: active.id },
            None => TurnRefusal::NothingQueued { agent: agent.clone() },
        })
    }

    /// The first reason counts.
    pub(super) fn stop(&mut self, turn: TurnId, why: Why) -> Result<(), TurnRefusal> {
        let record = self.known(turn)?.clone();
        if record.status == TurnStatus::Queued {
            if let Some(why) = record.stop {
                return Err(TurnRefusal::Stopped { turn, why });
            }
            self.batch.turns.insert(turn, TurnRecord { stop: Some(why), ..record });
            return Ok(());
        }
        let held = self.active(&record.agent, turn)?;
        self.run_to_deliver(held, why)
    }

    pub(super) fn limit(&mut self, turn: TurnId, now: Millis) -> Result<(), TurnRefusal> {
        let held = self.active(&self.known(turn)?.agent, turn)?;
        let limit = held.turn.task.limits.time_ms;
        if limit.is_none_or(|limit| held.turn.since.saturating_add(limit) > now) {
            return Err(TurnRefusal::NotDue { turn });
        }
        self.run_to_deliver(held, Why::Limit(Measure::Time))
    }

    /// The calls that are open stay so: the delivery writes a result for each.
    fn run_to_deliver(&mut self, mut held: Held, why: Why) -> Result<(), TurnRefusal> {
        let turn = &mut held.turn;
        if let Some(why) = turn.stop {
            return Err(TurnRefusal::Stopped { turn: turn.id, why });
        }
        turn.stop = Some(why);
        if !matches!(turn.phase, Phase::Running { .. }) {
            turn.phase = Phase::Running { answer: None };
        }
        self.set(held);
        Ok(())
    }

    /// Whether the turn was enqueued before, with the same task.
    fn is_repeated(&self, new: &NewTurn) -> Result<bool, TurnRefusal> {
        let Some(known) = self.record(new.id) else { return Ok(false) };
        let is_same = known.agent == new.agent && known.task == new.task && known.parent.is_none();
        if is_same { Ok(true) } else { Err(TurnRefusal::OtherTurn { turn: new.id }) }
    }

    /// Adds a turn to the queue. Its output box belongs to its agent until it is delivered.
    pub(super) fn add(
        &mut self,
        new: &NewTurn,
        parent: Option<MemberId>,
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        let NewTurn { id, agent, task } = new.clone();
        self.head(&agent)?;
        if self.record(id).is_some() {
            return Err(TurnRefusal::OtherTurn { turn: id });
        }
        let box_id = task.output_box;
        if box_id == task.context_box {
            return Err(TurnRefusal::SameBox { box_id });
        }
        let used = self.used(box_id, &agent)?;
        let live = used.live.saturating_add(1);
        self.batch.boxes.insert(box_id, Some(BoxUse { live, ..used }));
        let status = TurnStatus::Queued;
        let record = TurnRecord { agent, task, parent, enqueued_at: now, stop: None, status };
        self.edge((Primitive::Enqueue, EdgePhase::Request), (id, parent), &record, now);
        if parent.is_some() {
            self.edge((Primitive::Join, EdgePhase::Request), (id, parent), &record, now);
        }
        self.batch.turns.insert(id, record);
        Ok(())
    }

    /// Makes a queued turn the active one, in an epoch of its own.
    fn activate(&mut self, agent: &AgentId, turn: TurnId, now: Millis) -> Result<(), TurnRefusal> {
        let head = self.head(agent)?;
        if let Some(active) = &head.active {
            return Err(TurnRefusal::Busy { turn: active.id });
        }
        let epoch = next_epoch(head.epoch)?;
        let record = TurnRecord { status: TurnStatus::Active, ..self.known(turn)?.clone() };
        let box_id = record.task.output_box;
        let used = self.used(box_id, agent)?;
        self.batch.boxes.insert(box_id, Some(BoxUse { writer: Some(turn), ..used }));
        let active = ActiveTurn {
            id: turn,
            task: record.task.clone(),
            since: now,
            stop: record.stop,
            step: 1,
            calls: 0,
            open: Vec::new(),
            then: AfterExecution::Suspend,
            usage: Usage::default(),
            phase: Phase::Dispatched,
        };
        self.batch.turns.insert(turn, record);
        self.set(Held { agent: agent.clone(), epoch, turn: active });
        Ok(())
    }
}
