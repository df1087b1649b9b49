//! The requests of the worker that holds a turn.

use std::collections::BTreeSet;

use super::{
    AfterExecution, AgentId, BoxUse, CallSource, CardId, CardKind, EdgePhase, Head, MAX_MEMBERS,
    MAX_NAME, MAX_REJECTED, Member, MemberId, NewAnswer, NewCard, NewDelivery, NewMember,
    NewSource, NewTurn, Phase, Primitive, SUBMIT_RESULT, StopReason, Task, TaskEvent, TurnEdge,
    TurnEnd, TurnEpoch, TurnRecord, TurnRefusal, TurnStatus, Usage, WaitOutcome,
    decide::{Draft, Held, next_epoch},
};
use crate::clock::Millis;

impl Draft<'_> {
    pub(super) fn claim(&mut self, by: &TurnEpoch) -> Result<(), TurnRefusal> {
        let mut held = self.held(by)?;
        if held.turn.phase != Phase::Dispatched {
            return Err(held.wrong_phase());
        }
        held.turn.phase = Phase::Running { answer: None };
        held.stop_at_limits(held.turn.dispatched_at);
        self.set(held);
        Ok(())
    }

    pub(super) fn reclaim(&mut self, by: &TurnEpoch) -> Result<(), TurnRefusal> {
        let mut held = self.held(by)?;
        held.epoch = next_epoch(held.epoch)?;
        self.set(held);
        Ok(())
    }

    pub(super) fn answered(&mut self, new: &NewAnswer) -> Result<(), TurnRefusal> {
        let mut held = self.held(&new.by)?;
        if held.answer()?.is_some() {
            return Err(held.wrong_phase());
        }
        if new.calls > MAX_MEMBERS {
            return Err(TurnRefusal::TooManyCalls { count: new.calls });
        }
        self.write(&held, &new.card, (CardKind::Answer, 0))?;
        let turn = &mut held.turn;
        turn.phase = Phase::Running { answer: Some(new.card.id) };
        turn.unmade = new.calls;
        turn.usage.tokens = turn.usage.tokens.saturating_add(new.tokens);
        turn.usage.cost = turn.usage.cost.saturating_add(new.cost);
        held.stop_at_limits(new.now);
        self.set(held);
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        by: &TurnEpoch,
        members: &[NewMember],
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        let mut held = self.held(by)?;
        held.check_calls(members)?;
        let made = u32::try_from(members.iter().filter(|it| it.is_made()).count());
        let calls = held.turn.usage.calls.saturating_add(made.unwrap_or(u32::MAX));
        let usage = Usage { calls, ..held.turn.usage };
        if let Some(why) = held.limit(&usage, now) {
            held.turn.stop_with(why);
            self.set(held);
            return Ok(());
        }
        for (index, new) in (0..).zip(members) {
            self.make(&mut held, index, new, now)?;
        }
        let turn = &mut held.turn;
        (turn.usage, turn.calls, turn.unmade) = (usage, turn.unmade, 0);
        turn.phase = Phase::Suspended;
        held.end_step(now);
        self.set(held);
        Ok(())
    }

    /// Writes a call, and its result if it is closed. Otherwise the turn waits for it.
    fn make(
        &mut self,
        held: &mut Held,
        index: u32,
        new: &NewMember,
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        self.write(held, &new.card, (CardKind::ToolCall, index))?;
        let id = held.member(index);
        let source = match &new.source {
            NewSource::Closed(card) => {
                return self.write(held, card, (CardKind::ToolResult, index));
            }
            NewSource::Execution => CallSource::Execution(held.executions()),
            NewSource::Outside => CallSource::Outside,
            NewSource::Turn { agent, .. } if *agent == held.agent => {
                return Err(TurnRefusal::OwnAgent { member: id });
            }
            NewSource::Turn { .. } if new.deadline.is_none() => {
                return Err(TurnRefusal::NoDeadline { member: id });
            }
            NewSource::Turn { agent, task } => {
                let task = Task { trace: held.turn.task.trace, ..task.clone() };
                let (child, agent) = (id.delegated(), AgentId::clone(agent));
                self.add(&NewTurn { id: child, agent, task }, Some(id), now)?;
                CallSource::Turn(child)
            }
        };
        let (call_id, deadline, after) = (new.call_id.clone(), new.deadline, new.after);
        held.turn.waiting.push(Member { id, call_id, source, deadline, after });
        Ok(())
    }

    pub(super) fn report(
        &mut self,
        by: &TurnEpoch,
        id: MemberId,
        outcome: WaitOutcome,
        card: &NewCard,
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        let mut held = self.held(by)?;
        let member = held.waits_for(id)?;
        // The clock may have jumped back since: what has ended is ready.
        let ended = self.end_of(&member);
        let fits = match outcome {
            WaitOutcome::Ended { .. } => {
                ended.is_some_and(|at| member.deadline.is_none_or(|due| at < due))
            }
            WaitOutcome::TimedOut => member.deadline.is_some_and(|due| ended.unwrap_or(now) >= due),
        };
        if !fits {
            return Err(TurnRefusal::WrongOutcome { member: id });
        }
        self.write(&held, card, (CardKind::ToolResult, id.index))?;
        let (primitive, phase) = (Primitive::Report, EdgePhase::Response);
        let (turn, trace) = (id.turn, held.turn.task.trace);
        let edge = TurnEdge { primitive, phase, turn, member: Some(id), trace, at: now };
        self.batch.edges.push(edge);
        let turn = &mut held.turn;
        turn.waiting.retain(|member| member.id != id);
        match outcome {
            WaitOutcome::TimedOut => turn.overdue.extend(member.source.turn()),
            WaitOutcome::Ended { after }
                if after.unwrap_or(member.after) == AfterExecution::Terminate =>
            {
                turn.after_step = AfterExecution::Terminate;
            }
            WaitOutcome::Ended { .. } => {}
        }
        held.end_step(now);
        self.set(held);
        Ok(())
    }

    pub(super) fn deliver(&mut self, new: &NewDelivery) -> Result<(), TurnRefusal> {
        let held = self.held(&new.by)?;
        if !matches!(held.turn.phase, Phase::Running { .. }) {
            return Err(held.wrong_phase());
        }
        self.close(&held, &new.results)?;
        self.write(&held, &new.deliverable, (CardKind::Deliverable, 0))?;
        let end = match held.turn.stop {
            Some(why) => TurnEnd::Stopped(why),
            None if new.is_failure => TurnEnd::Failed,
            None => TurnEnd::Done,
        };
        if end == TurnEnd::Done {
            let required = held.turn.task.terms.result_fields.iter();
            let missing = required.filter(|field| !new.fields.contains(field));
            let fields: Vec<String> = missing.cloned().collect();
            if !fields.is_empty() {
                return Err(TurnRefusal::MissingFields { fields });
            }
        }
        // The deadline of a head stops the turn alone.
        if held.turn.stop.is_some() {
            self.stop_children(held.turn.id);
        }
        self.end(held, new, end)
    }

    /// Writes a result for each call that has none, so that no call is left without one.
    fn close(&mut self, held: &Held, results: &[(u32, NewCard)]) -> Result<(), TurnRefusal> {
        let mut unanswered = held.turn.unanswered();
        for (index, card) in results {
            let Some(at) = unanswered.iter().position(|it| it == index) else {
                return Err(held.not_open(held.member(*index)));
            };
            unanswered.remove(at);
            self.write(held, card, (CardKind::ToolResult, *index))?;
        }
        match unanswered.first() {
            Some(index) => Err(TurnRefusal::OpenCall { member: held.member(*index) }),
            None => Ok(()),
        }
    }

    fn end(&mut self, held: Held, new: &NewDelivery, end: TurnEnd) -> Result<(), TurnRefusal> {
        let Held { agent, epoch, turn } = held;
        let (turn, output_box, deliverable) = (turn.id, turn.task.output_box, new.deliverable.id);
        let status = TurnStatus::Delivered { end, deliverable, at: new.now };
        let record = TurnRecord { status, ..self.known(turn)?.clone() };
        let used = self.used(output_box, &agent)?;
        let live = used.live.saturating_sub(1);
        self.batch.boxes.insert(output_box, BoxUse { live, ..used });
        let (parent, trace) = (record.parent, record.task.trace);
        let (primitive, phase) = (Primitive::Join, EdgePhase::Response);
        let edge = |_| TurnEdge { primitive, phase, turn, member: parent, trace, at: new.now };
        self.batch.edges.extend(parent.map(edge));
        self.batch.turns.insert(turn, record);
        self.batch.head = Some((agent.clone(), Head { epoch, active: None }));
        self.batch.event =
            Some(TaskEvent { agent, turn, epoch, end, output_box, deliverable, parent });
        Ok(())
    }

    /// When the call ended, if it has. For a delegated turn, its record decides.
    fn end_of(&self, member: &Member) -> Option<Millis> {
        let CallSource::Turn(turn) = member.source else {
            return self.rows.ends.get(&member.id).copied();
        };
        match self.record(turn)?.status {
            TurnStatus::Delivered { at, .. } => Some(at),
            TurnStatus::Queued | TurnStatus::Active => None,
        }
    }
}

impl Held {
    fn wrong_phase(&self) -> TurnRefusal {
        TurnRefusal::WrongPhase { turn: self.turn.id, phase: self.turn.phase }
    }

    fn executions(&self) -> u32 {
        let waiting = self.turn.waiting.iter();
        waiting.map(|it| u32::from(matches!(it.source, CallSource::Execution(_)))).sum()
    }

    fn limit(&self, usage: &Usage, now: Millis) -> Option<StopReason> {
        let turn = &self.turn;
        let elapsed = now.saturating_sub(turn.dispatched_at);
        turn.task.terms.limits.ended(turn.step, usage, elapsed).map(StopReason::Limit)
    }

    /// A turn that delivers next uses nothing more.
    fn stop_at_limits(&mut self, now: Millis) {
        let limit = self.limit(&self.turn.usage, now);
        if let Some(why) = limit.filter(|_| !self.turn.must_deliver()) {
            self.turn.stop_with(why);
        }
    }

    /// After the last result of a step the turn runs: the next step, or to deliver.
    fn end_step(&mut self, now: Millis) {
        let turn = &mut self.turn;
        if turn.waiting.is_empty() {
            if turn.after_step == AfterExecution::Suspend {
                turn.calls = 0;
                turn.step = turn.step.saturating_add(1);
            }
            turn.phase = Phase::Running { answer: None };
        }
        self.stop_at_limits(now);
    }

    /// The answer of the model in this step. A stopped turn can have one.
    fn answer(&self) -> Result<Option<CardId>, TurnRefusal> {
        let (turn, after_step) = (self.turn.id, self.turn.after_step);
        match (self.turn.phase, self.turn.stop) {
            (Phase::Running { .. }, _) if after_step == AfterExecution::Terminate => {
                Err(TurnRefusal::MustDeliver { turn })
            }
            (Phase::Running { .. }, Some(why)) if !self.turn.waiting.is_empty() => {
                Err(TurnRefusal::Stopped { turn, why })
            }
            (Phase::Running { answer }, _) => Ok(answer),
            _ => Err(self.wrong_phase()),
        }
    }

    /// Checks the calls of the answer, and counts it if none of them is made.
    fn check_calls(&mut self, members: &[NewMember]) -> Result<(), TurnRefusal> {
        let (answer, turn) = (self.answer()?, self.turn.id);
        if let Some(why) = self.turn.stop {
            return Err(TurnRefusal::Stopped { turn, why });
        }
        if answer.is_none() {
            return Err(self.wrong_phase());
        }
        let (count, calls) = (u32::try_from(members.len()).unwrap_or(u32::MAX), self.turn.unmade);
        if count != calls {
            return Err(TurnRefusal::CallCount { count, calls });
        }
        let mut call_ids = BTreeSet::new();
        for (index, new) in (0..).zip(members).filter(|(_, new)| new.is_made()) {
            if new.tool == SUBMIT_RESULT {
                return Err(TurnRefusal::SubmitResult);
            }
            if [&new.tool, &new.call_id].iter().any(|it| it.is_empty() || it.len() > MAX_NAME) {
                return Err(TurnRefusal::BadName { member: self.member(index) });
            }
            if !call_ids.insert(&new.call_id) {
                return Err(TurnRefusal::RepeatedCall { call_id: new.call_id.clone() });
            }
        }
        if members.iter().any(NewMember::is_made) {
            self.turn.rejected = 0;
        } else if self.turn.rejected >= MAX_REJECTED {
            return Err(TurnRefusal::Rejected { turn });
        } else {
            self.turn.rejected += 1;
        }
        Ok(())
    }

    fn waits_for(&self, id: MemberId) -> Result<Member, TurnRefusal> {
        let member = self.turn.member(id).ok_or_else(|| self.not_open(id))?;
        match self.turn.stop {
            Some(why) => Err(TurnRefusal::Stopped { turn: self.turn.id, why }),
            None => Ok(member.clone()),
        }
    }

    fn not_open(&self, member: MemberId) -> TurnRefusal {
        let is_past = (member.step, member.index) < (self.turn.step, self.turn.calls);
        if member.turn == self.turn.id && is_past {
            TurnRefusal::FinishedCall { member }
        } else {
            TurnRefusal::UnknownCall { member }
        }
    }
}

impl NewMember {
    pub(super) fn is_made(&self) -> bool {
        !matches!(self.source, NewSource::Closed(_))
    }
}
