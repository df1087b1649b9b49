//! The writes of one step of a worker: those of one request, or of several that are decided one
//! after the other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    AgentCall, AgentId, CallTarget, CardId, Deliverable, MAX_CARD, ModelAnswer, NewAnswer, NewCard,
    NewDelivery, NewMember, NewSource, SUBMIT_RESULT, TurnBatch, TurnEpoch, TurnRefusal,
    TurnRequest, TurnRows, TurnStatus, Work, decide, stored::Bodies, waits::NextReport,
};
use crate::{
    clock::{Millis, later},
    contract::{ToolCall, bounded},
    id::Id,
    journal::{Digest, is_too_deep},
};

pub(super) struct Written {
    /// The rows after the requests so far.
    rows: TurnRows,
    pub(super) batch: TurnBatch,
    pub(super) bodies: Bodies,
    /// The calls of the state that the head enters.
    pub(super) calls: Vec<ToolCall>,
    /// The results of the open calls that have ended, by index.
    pub(super) ended: BTreeMap<u32, Value>,
}

impl Written {
    pub(super) fn new(rows: TurnRows) -> Self {
        let (batch, bodies, calls, ended) = Default::default();
        Self { rows, batch, bodies, calls, ended }
    }

    pub(super) fn add(&mut self, request: &TurnRequest) -> Result<(), TurnRefusal> {
        let batch = decide(&self.rows, request)?;
        self.rows.apply(&batch);
        self.batch.add(batch);
        Ok(())
    }

    /// Delivers a result, or makes the calls of an answer. If the agent would return again what is
    /// refused, such as a result that lacks fields, a failure is delivered instead.
    pub(super) fn work(
        &mut self,
        by: &TurnEpoch,
        work: &Work,
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        let done = match work {
            Work::Deliver(Deliverable::Done(body)) => self.deliver(by, (body, false), now),
            Work::Deliver(Deliverable::Failed(body)) => self.deliver(by, (body, true), now),
            Work::Call(answer) => self.call(by, answer, now),
        };
        match done {
            Err(
                refusal @ (TurnRefusal::MissingFields { .. }
                | TurnRefusal::TooLarge { .. }
                | TurnRefusal::TooManyCalls { .. }
                | TurnRefusal::MustDeliver { .. }
                | TurnRefusal::TurnIdConflict { .. }
                | TurnRefusal::Rejected { .. }),
            ) => {
                let failed = json!({ "refused": bounded(refusal.to_string()) });
                self.deliver(by, (&failed, true), now)
            }
            done => done,
        }
    }

    pub(super) fn report(
        &mut self,
        by: &TurnEpoch,
        report: NextReport,
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        let NextReport { member, ended_at, outcome, body, .. } = report;
        self.rows.ends.extend(ended_at.map(|at| (member, at)));
        let (by, card) = (by.clone(), self.result(&body));
        self.add(&TurnRequest::Report { by, member, outcome, card, now })
    }

    fn deliver(
        &mut self,
        by: &TurnEpoch,
        (body, is_failure): (&Value, bool),
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        // One that is nested too deeply is a text, without fields.
        let fields = body.as_object().filter(|_| !is_too_deep(body));
        let fields = fields.map(|body| body.keys().cloned().collect()).unwrap_or_default();
        let results = self.results(&by.agent, is_failure);
        let (by, deliverable) = (by.clone(), self.card(body));
        let new = NewDelivery { by, is_failure, deliverable, fields, results, now };
        self.add(&TurnRequest::Deliver(new))
    }

    /// The results of the calls that have none. The one that was not made in a turn that is
    /// delivered without a failure has submitted its result.
    fn results(&mut self, agent: &AgentId, is_failure: bool) -> Vec<(u32, NewCard)> {
        let active = self.rows.heads.get(agent).and_then(|head| head.active.as_ref());
        let Some(turn) = active else { return Vec::new() };
        let why = turn.stop.map_or_else(|| "the turn has ended".to_owned(), |why| why.to_string());
        let (unmade, unanswered) = (turn.unmade, turn.unanswered());
        let result = |index| {
            let is_unmade = index < unmade;
            let what = if is_unmade { "not_made" } else { "interrupted" };
            let body = match self.ended.get(&index) {
                Some(body) => body.clone(),
                None if is_unmade && !is_failure => json!({ "delivered": true }),
                None => json!({ "error": { what: why } }),
            };
            (index, self.result(&body))
        };
        unanswered.into_iter().map(result).collect()
    }

    fn call(
        &mut self,
        by: &TurnEpoch,
        ModelAnswer { body, calls: called, tokens, cost }: &ModelAnswer,
        now: Millis,
    ) -> Result<(), TurnRefusal> {
        let (calls, card) = (u32::try_from(called.len()).unwrap_or(u32::MAX), self.card(body));
        let (tokens, cost) = (*tokens, *cost);
        let new = NewAnswer { by: by.clone(), card, calls, tokens, cost, now };
        self.add(&TurnRequest::Answered(new))?;
        let mut refusal = TurnRefusal::SubmitResult;
        if let [AgentCall { target: CallTarget::Submit(result), .. }] = called.as_slice() {
            match self.deliver(by, (result, false), now) {
                Err(missing @ TurnRefusal::MissingFields { .. }) => refusal = missing,
                delivered => return delivered,
            }
        }
        let mut members: Vec<NewMember> =
            called.iter().map(|call| self.member(call, &refusal, now)).collect();
        loop {
            let request = TurnRequest::Call { by: by.clone(), members: members.clone(), now };
            match self.add(&request) {
                Ok(()) => break,
                // The answer is paid for, so it is written.
                Err(TurnRefusal::Stopped { .. }) => return Ok(()),
                Err(refusal) => {
                    let Some(at) = refused_call(&members, &refusal) else { return Err(refusal) };
                    members[at].source = NewSource::Closed(self.card(&refused(&refusal)));
                }
            }
        }
        let made = called.iter().zip(&members);
        self.calls.extend(made.filter_map(|(call, member)| match (&call.target, &member.source) {
            (CallTarget::Tool(call), NewSource::Execution) => Some(call.clone()),
            _ => None,
        }));
        Ok(())
    }

    /// A call of an answer. A result that was submitted is refused.
    fn member(&mut self, call: &AgentCall, refusal: &TurnRefusal, now: Millis) -> NewMember {
        let AgentCall { tool, call_id, target, within, after } = call;
        let mut tool = tool.clone();
        let (what, made, source) = match target {
            CallTarget::Tool(call) => ("call", json!(call), NewSource::Execution),
            CallTarget::Agent { agent, task } => {
                let source = NewSource::Turn { agent: agent.clone(), task: task.clone() };
                ("turn", json!({ "agent": agent, "task": task }), source)
            }
            CallTarget::Outside => ("outside", json!(true), NewSource::Outside),
            CallTarget::Submit(result) => {
                SUBMIT_RESULT.clone_into(&mut tool);
                ("submit", result.clone(), NewSource::Closed(self.card(&refused(refusal))))
            }
            CallTarget::Closed(result) => {
                ("closed", json!(true), NewSource::Closed(self.result(result)))
            }
        };
        let card = self.card(&json!({ "tool": tool, "call_id": call_id, what: made }));
        let deadline = within.map(|time| later(now, time));
        let (call_id, after) = (call_id.clone(), *after);
        NewMember { tool, call_id, card, source, deadline, after }
    }

    /// The card of a result. If it is too large, the card has its kind and its size: the call may
    /// have taken effect. The result of an execution stays there.
    fn result(&mut self, body: &Value) -> NewCard {
        match self.card(body) {
            NewCard { size, .. } if size > MAX_CARD => {
                let why = format!(
                    "left out: it has {size} bytes, more than {MAX_CARD}; \
                     do not repeat the call, ask for less"
                );
                let mut kinds = ["receipt", "answer", "error"].into_iter();
                let kind = kinds.find(|kind| body.get(kind).is_some()).unwrap_or("answer");
                self.card(&json!({ kind: why }))
            }
            card => card,
        }
    }

    /// A body that is nested too deeply is its text, so that it can be read again.
    fn card(&mut self, body: &Value) -> NewCard {
        let mut text = body.to_string();
        if is_too_deep(body) {
            text = Value::from(text).to_string();
        }
        let (id, digest) = (CardId(Id::fresh()), Digest::of(&[text.as_bytes()]));
        let card = NewCard { id, digest, size: text.len() as u64 };
        self.bodies.insert(id, text);
        card
    }

    /// The heads of other agents that have news: a turn in their queue, or the end of one that they
    /// wait for.
    pub(super) fn woken(&self, own: &AgentId) -> Vec<Id> {
        let parent = self.batch.event.as_ref().and_then(|event| event.parent);
        let parent = parent.and_then(|call| self.rows.turns.get(&call.turn));
        let queued = self.batch.turns.values().filter(|it| it.status == TurnStatus::Queued);
        let agents = queued.chain(parent).map(|record| &record.agent);
        agents.filter(|agent| *agent != own).map(AgentId::head).collect()
    }
}

/// The result of a call that is refused.
fn refused(why: &impl ToString) -> Value {
    json!({ "error": { "refused": bounded(why.to_string()) } })
}

/// The call for which the calls of an answer are refused; `None` if the refusal is about all.
fn refused_call(members: &[NewMember], refusal: &TurnRefusal) -> Option<usize> {
    let is_this = |at: usize, call: &NewMember| match (refusal, &call.source) {
        (
            TurnRefusal::BadName { member }
            | TurnRefusal::OwnAgent { member }
            | TurnRefusal::NoDeadline { member },
            _,
        ) => usize::try_from(member.index) == Ok(at),
        (TurnRefusal::RepeatedCall { call_id }, _) => call.call_id == *call_id,
        (TurnRefusal::SubmitResult, _) => call.tool == SUBMIT_RESULT,
        (TurnRefusal::UnknownAgent { agent }, NewSource::Turn { agent: of, .. }) => agent == of,
        (TurnRefusal::SameBox { box_id }, NewSource::Turn { task, .. }) => {
            (task.output_box, task.context_box) == (*box_id, *box_id)
        }
        (TurnRefusal::BoxTaken { box_id, agent: owner }, NewSource::Turn { agent, task }) => {
            task.output_box == *box_id && agent != owner
        }
        (TurnRefusal::MissingCards { box_id, cards }, NewSource::Turn { task, .. }) => {
            (task.context_box, task.context_cards) == (*box_id, *cards)
        }
        _ => false,
    };
    let mut last = members.iter().enumerate().rev();
    last.find(|(at, call)| call.is_made() && is_this(*at, call)).map(|(at, _)| at)
}
