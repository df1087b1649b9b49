//! The requests of the worker that holds a turn.

use std::collections::BTreeSet;

use super::{
    AfterExecution, CallSource, CardId, CardKind, EdgePhase, MAX_MEMBERS, Member, MemberId,
    NewCard, NewMember, NewSource, NewTurn, Phase, Primitive, SUBMIT_RESULT, Task, TurnEpoch,
    TurnRefusal, TurnStatus, Usage, WaitEnd, Why,
    decide::{Draft, Held, next_epoch},
};
use crate::{Id, clock::Millis};

impl Draft<'_> {
    pub(super) fn claim(&mut self, by: &TurnEpoch) -> Result<(), TurnRefusal> {
        let mut held = self.held(by)?;
        if held.turn.phase != Phase::Dispatched {
            return Err(held.other_phase());
        }
        held.run();
        self.set(held);
        Ok(())
    }

    pub(super) fn reclaim(&mut self, by: &TurnEpoch) -> Result<(), TurnRefusal> {
        let mut held = self.held(by)?;
        held.epoch = next_epoch(held.epoch)?;
        self.set(held);
        Ok(())
    }

    pub(super) fn answered(
        &mut self,
        by: &TurnEpoch,
        card: &NewCard,
        (tokens, money): (u64, u64),
    ) -> Result<(), TurnRefusal> {
        let mut held = self.held(by)?;
        if let Some(card) = held.answer()? {
            return Err(TurnRefusal::Answered { card });
        }
        self.write(&held, card, (CardKind::Answer, 0))?;
        let turn = &mut held.turn;
        turn.phase = Phase::Running { answer: Some(card.id) };
        turn.usage.tokens = turn.usage.tokens.saturating_add(tokens);
        turn.usage.money = turn.usage.money.saturating_add(money);
        held.stop_at_limits();
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
        if held.answer()?.is_none() {
            return Err(TurnRefusal::NotAnswered { step: held.turn.step });
        }
        let count = u32::try_from(members.len()).unwrap_or(u32::MAX);
        if count == 0 || count > MAX_MEMBERS {
            return Err(TurnRefusal::CallCount { count });
        }
        check_members(members)?;
        let usage = held.turn.usage;
        let usage = Usage { calls: usage.calls.saturating_add(count), ..usage };
        if let Some(measure) = held.turn.task.limits.exceeded(held.turn.step, &usage) {
            return Err(TurnRefusal::Limit(measure));
        }
        for (index, new) in (0..).zip(members) {
            self.write(&held, &new.card, (CardKind::ToolCall, index))?;
            let id = held.member(index);
            let source = match &new.source {
                NewSource::Execution(id) => CallSource::Execution(*id),
                NewSource::Outside => CallSource::Outside,
                NewSource::Turn(child) if child.agent == held.agent || new.deadline.is_none() => {
                    return Err(TurnRefusal::EndlessWait { member: id });
                }
                NewSource::Turn(child) => {
                    let task = Task { trace: held.turn.task.trace, ..child.task.clone() };
                    self.add(&NewTurn { task, ..child.clone() }, Some(id), now)?;
                    CallSource::Turn(child.id)
                }
            };
            let NewMember { deadline, after, .. } = *new;
            let call_id = new.call_id.clone();
            held.turn.open.push(Member { id, call_id, source, deadline, after });
        }
        (held.turn.usage, held.turn.calls) = (usage, count);
        held.turn.phase = Phase::Suspended;
        self.set(held);
        Ok(())
    }

    pub(super) fn report(
        &mut self,
        by: &TurnEpoch,
        id: MemberId,
        how: WaitEnd,
        card: &NewCard,
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        let mut held = self.held(by)?;
        let member = held.waits_for(id)?;
        let ended = self.end_of(&member, how)?;
        match (how, ended, member.deadline) {
            (WaitEnd::Ended { .. }, Some(at), Some(deadline)) if at >= deadline => {
                return Err(TurnRefusal::Overdue { member: id, deadline });
            }
            (WaitEnd::TimedOut, Some(at), Some(deadline)) if at < deadline => {
                return Err(TurnRefusal::NotOverdue { member: id });
            }
            (WaitEnd::TimedOut, _, deadline) if deadline.is_none_or(|due| now < due) => {
                return Err(TurnRefusal::NotOverdue { member: id });
            }
            _ => {}
        }
        self.write(&held, card, (CardKind::ToolResult, id.index))?;
        let record = self.known(id.turn)?.clone();
        self.edge((Primitive::Report, EdgePhase::Response), (id.turn, Some(id)), &record, now);
        let turn = &mut held.turn;
        turn.open.retain(|member| member.id != id);
        if let WaitEnd::Ended { after, .. } = how
            && after.unwrap_or(member.after) == AfterExecution::Terminate
        {
            turn.then = AfterExecution::Terminate;
        }
        if turn.open.is_empty() {
            if turn.then == AfterExecution::Suspend {
                (turn.step, turn.calls) = (turn.step.saturating_add(1), 0);
            }
            held.run();
        }
        self.set(held);
        Ok(())
    }

    /// When the call ended, if that is known. Of a turn of another agent, its record tells.
    fn end_of(&self, member: &Member, how: WaitEnd) -> Result<Option<Millis>, TurnRefusal> {
        let CallSource::Turn(turn) = member.source else {
            return Ok(match how {
                WaitEnd::Ended { at, .. } => Some(at),
                WaitEnd::TimedOut => None,
            });
        };
        match (self.known(turn)?.status, how) {
            (TurnStatus::Delivered { at, .. }, _) => Ok(Some(at)),
            (_, WaitEnd::TimedOut) => Ok(None),
            _ => Err(TurnRefusal::NotEnded { member: member.id, turn }),
        }
    }
}

impl Held {
    pub(super) fn other_phase(&self) -> TurnRefusal {
        TurnRefusal::OtherPhase { turn: self.turn.id, phase: self.turn.phase }
    }

    /// A worker runs the current step.
    fn run(&mut self) {
        self.turn.phase = Phase::Running { answer: None };
        self.stop_at_limits();
    }

    /// A turn that delivers next uses nothing more.
    fn stop_at_limits(&mut self) {
        let turn = &mut self.turn;
        if !turn.must_deliver() {
            turn.stop = turn.task.limits.exceeded(turn.step, &turn.usage).map(Why::Limit);
        }
    }

    /// The answer of the model in this step, if the turn may continue.
    fn answer(&self) -> Result<Option<CardId>, TurnRefusal> {
        let turn = self.turn.id;
        match (self.turn.phase, self.turn.stop, self.turn.then) {
            (Phase::Running { .. }, Some(why), _) => Err(TurnRefusal::Stopped { turn, why }),
            (Phase::Running { .. }, _, AfterExecution::Terminate) => {
                Err(TurnRefusal::MustDeliver { turn })
            }
            (Phase::Running { answer }, ..) => Ok(answer),
            _ => Err(self.other_phase()),
        }
    }

    /// The call, if the turn waits for it.
    fn waits_for(&self, id: MemberId) -> Result<Member, TurnRefusal> {
        let turn = &self.turn;
        if id.turn != turn.id {
            return Err(TurnRefusal::ForeignCall { member: id });
        }
        let Some(member) = turn.member(id) else {
            return Err(self.not_open(id));
        };
        match turn.stop {
            Some(why) => Err(TurnRefusal::Stopped { turn: turn.id, why }),
            None => Ok(member.clone()),
        }
    }

    /// Why a call is not open. The calls of earlier steps are not counted.
    pub(super) fn not_open(&self, member: MemberId) -> TurnRefusal {
        let MemberId { step, index, .. } = member;
        let is_earlier = (1..self.turn.step).contains(&step);
        if is_earlier || (step == self.turn.step && index < self.turn.calls) {
            TurnRefusal::FinishedCall { member }
        } else {
            TurnRefusal::UnknownCall { member }
        }
    }
}

fn check_members(members: &[NewMember]) -> Result<(), TurnRefusal> {
    let (mut call_ids, mut executions) = (BTreeSet::<&str>::new(), BTreeSet::<Id>::new());
    for member in members {
        if member.tool == SUBMIT_RESULT {
            return Err(TurnRefusal::SubmitResult);
        }
        let is_other = match member.source {
            NewSource::Execution(execution) => executions.insert(execution),
            NewSource::Turn(_) | NewSource::Outside => true,
        };
        if !call_ids.insert(&member.call_id) || !is_other {
            return Err(TurnRefusal::RepeatedCall { call_id: member.call_id.clone() });
        }
    }
    Ok(())
}
