//! The requests that need no worker.

use super::{
    ActiveTurn, AfterExecution, AgentId, BoxUse, EdgePhase, MemberId, NewTurn, Phase, Primitive,
    StopReason, TurnEdge, TurnId, TurnRecord, TurnRefusal, TurnStatus, Usage,
    decide::{Draft, Held, next_epoch},
};
use crate::clock::Millis;

impl Draft<'_> {
    pub(super) fn enqueue(&mut self, new: &NewTurn, now: Millis) -> Result<(), TurnRefusal> {
        let is_same = |known: &TurnRecord| {
            known.agent == new.agent && known.task == new.task && known.parent.is_none()
        };
        if self.record(new.id).is_some_and(is_same) { Ok(()) } else { self.add(new, None, now) }
    }

    pub(super) fn ui_action(&mut self, new: &NewTurn, now: Millis) -> Result<(), TurnRefusal> {
        self.enqueue(new, now)?;
        match self.known(new.id)?.status {
            TurnStatus::Queued => self.activate(&new.agent, new.id, now),
            TurnStatus::Active | TurnStatus::Delivered { .. } => Ok(()),
        }
    }

    pub(super) fn dispatch(&mut self, agent: &AgentId, now: Millis) -> Result<(), TurnRefusal> {
        let is_queued =
            |record: &TurnRecord| record.agent == *agent && record.status == TurnStatus::Queued;
        let queued = self.rows.turns.iter().filter(|(_, record)| is_queued(record));
        let oldest = queued.min_by_key(|(turn, record)| (record.enqueued_at, **turn));
        self.head(agent)?;
        oldest.map_or(Ok(()), |(turn, _)| self.activate(agent, *turn, now))
    }

    /// The first reason counts.
    pub(super) fn stop(&mut self, turn: TurnId, why: StopReason) -> Result<(), TurnRefusal> {
        let record = self.known(turn)?.clone();
        if record.status == TurnStatus::Queued {
            if let Some(why) = record.stop {
                return Err(TurnRefusal::Stopped { turn, why });
            }
            self.batch.turns.insert(turn, TurnRecord { stop: Some(why), ..record });
            return Ok(());
        }
        let mut held = self.active(&record.agent, turn)?;
        if let Some(why) = held.turn.stop {
            return Err(TurnRefusal::Stopped { turn, why });
        }
        held.turn.stop_with(why);
        self.set(held);
        Ok(())
    }

    /// Stops the queued turns that the turn has delegated. Running ones continue.
    pub(super) fn stop_children(&mut self, turn: TurnId) {
        for (child, record) in &self.rows.turns {
            let is_child = record.parent.is_some_and(|member| member.turn == turn);
            if is_child && record.status == TurnStatus::Queued && record.stop.is_none() {
                let record = TurnRecord { stop: Some(StopReason::Parent), ..record.clone() };
                self.batch.turns.insert(*child, record);
            }
        }
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
            return Err(TurnRefusal::TurnIdConflict { turn: id });
        }
        let box_id = task.output_box;
        if box_id == task.context_box {
            return Err(TurnRefusal::SameBox { box_id });
        }
        // The input does not change later, so it must be there. A box never loses a card.
        let context = self.rows.boxes.get(&task.context_box);
        if context.map_or(0, |used| used.cards) < task.context_cards {
            let (box_id, cards) = (task.context_box, task.context_cards);
            return Err(TurnRefusal::MissingCards { box_id, cards });
        }
        let used = self.used(box_id, &agent)?;
        let live = used.live.saturating_add(1);
        self.batch.boxes.insert(box_id, BoxUse { live, ..used });
        let (phase, trace) = (EdgePhase::Request, task.trace);
        let edge =
            |primitive| TurnEdge { primitive, phase, turn: id, member: parent, trace, at: now };
        self.batch.edges.push(edge(Primitive::Enqueue));
        self.batch.edges.extend(parent.map(|_| edge(Primitive::Join)));
        // A write that prunes the cards of its context meets this one.
        if let Some(used) = context.filter(|_| task.context_cards > 0) {
            self.batch.boxes.entry(task.context_box).or_insert_with(|| used.clone());
        }
        let (status, stop, pruned_at) = (TurnStatus::Queued, None, None);
        let record = TurnRecord { agent, task, parent, enqueued_at: now, stop, status, pruned_at };
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
        let active = ActiveTurn {
            id: turn,
            task: record.task.clone(),
            dispatched_at: now,
            stop: record.stop,
            step: 1,
            calls: 0,
            unmade: 0,
            overdue: Vec::new(),
            rejected: 0,
            waiting: Vec::new(),
            after_step: AfterExecution::Suspend,
            usage: Usage::default(),
            phase: Phase::Dispatched,
        };
        self.batch.turns.insert(turn, record);
        self.set(Held { agent: agent.clone(), epoch, turn: active });
        Ok(())
    }
}
