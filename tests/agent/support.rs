//! Ids and requests, as a runtime would make them, and the calls of agents.

use std::time::Duration;

use machine::{
    Id,
    agent::{
        ActiveTurn, AfterExecution, AgentCall, AgentId, BoxId, CallTarget, Card, CardId, Head,
        MemberId, ModelAnswer, NewAnswer, NewCard, NewDelivery, NewMember, NewSource, NewTurn,
        Task, Terms, TurnBatch, TurnEpoch, TurnId, TurnRefusal, TurnRequest, TurnRows, WaitOutcome,
        Work, decide,
    },
    clock::Millis,
};

pub(super) fn id(number: u64) -> Id {
    format!("00000000-0000-7000-8000-{number:012x}").parse().unwrap()
}

pub(super) fn turn(number: u64) -> TurnId {
    TurnId(id(number))
}

pub(super) fn agent(name: &str) -> AgentId {
    AgentId(name.to_owned())
}

pub(super) fn card(number: u64) -> NewCard {
    NewCard { id: CardId(id(number)), digest: "00".repeat(32).parse().unwrap(), size: 1 }
}

/// A turn that writes to this box.
pub(super) fn new_turn(name: &str, number: u64, output: u64) -> NewTurn {
    let task = Task {
        context_box: BoxId(id(0)),
        output_box: BoxId(id(output)),
        context_cards: 0,
        trace: id(0),
        terms: Terms::default(),
    };
    NewTurn { id: turn(number), agent: agent(name), task }
}

pub(super) fn rows(agents: &[&str]) -> TurnRows {
    let heads = agents.iter().map(|name| (agent(name), Head::default())).collect();
    TurnRows { heads, ..TurnRows::default() }
}

/// The active turn of an agent, in its current epoch.
pub(super) fn current(rows: &TurnRows, name: &AgentId) -> Option<TurnEpoch> {
    let head = &rows.heads[name];
    let turn = head.active.as_ref()?.id;
    Some(TurnEpoch { agent: name.clone(), turn, epoch: head.epoch })
}

/// Before all deadlines, and after them.
pub(super) const EARLY: Millis = 0;
pub(super) const DEADLINE: Millis = 5;
pub(super) const LATE: Millis = 10;

/// The rows of a store, and its requests.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) rows: TurnRows,
    pub(super) cards: Vec<Card>,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { rows: rows(&["planner", "helper"]), cards: Vec::new() }
    }

    /// With a turn of the planner that a worker has claimed.
    pub(super) fn running(new: NewTurn) -> Self {
        let mut desk = Self::new();
        desk.write(&TurnRequest::UiAction { new, now: EARLY });
        desk.write(&TurnRequest::Claim { by: desk.by() });
        desk
    }

    /// With a turn whose model has answered with this number of calls.
    pub(super) fn answered(new: NewTurn, calls: u32) -> Self {
        let mut desk = Self::running(new);
        desk.write(&desk.answer(100, calls));
        desk
    }

    /// With a turn that waits for these calls.
    pub(super) fn waiting(members: Vec<NewMember>) -> Self {
        let calls = u32::try_from(members.len()).unwrap();
        let mut desk = Self::answered(new_turn("planner", 1, 1), calls);
        desk.write(&desk.call(members));
        desk
    }

    /// Writes what must be accepted.
    pub(super) fn write(&mut self, request: &TurnRequest) -> TurnBatch {
        let batch = decide(&self.rows, request).unwrap_or_else(|it| panic!("{request:?}: {it}"));
        self.rows.apply(&batch);
        self.cards.extend(&batch.cards);
        batch
    }

    pub(super) fn refused(&self, request: &TurnRequest) -> TurnRefusal {
        decide(&self.rows, request).expect_err("it is refused")
    }

    /// The active turn of the planner, in its current epoch.
    pub(super) fn by(&self) -> TurnEpoch {
        current(&self.rows, &agent("planner")).unwrap()
    }

    /// The active turn of the planner.
    pub(super) fn active(&self) -> &ActiveTurn {
        self.rows.heads[&agent("planner")].active.as_ref().unwrap()
    }

    pub(super) fn answer(&self, number: u64, calls: u32) -> TurnRequest {
        let (by, card) = (self.by(), card(number));
        TurnRequest::Answered(NewAnswer { by, card, calls, tokens: 10, cost: 1, now: EARLY })
    }

    /// The call with this index ends.
    pub(super) fn end(&mut self, index: u32, at: Millis) {
        self.rows.ends.insert(MemberId { turn: turn(1), step: 1, index }, at);
    }

    /// The call with this index ends in time, which is reported.
    pub(super) fn finish(&mut self, index: u32) -> TurnBatch {
        self.end(index, EARLY);
        self.write(&self.report(index, IN_TIME, EARLY))
    }

    pub(super) fn call(&self, members: Vec<NewMember>) -> TurnRequest {
        TurnRequest::Call { by: self.by(), members, now: EARLY }
    }

    pub(super) fn report(&self, index: u32, outcome: WaitOutcome, now: Millis) -> TurnRequest {
        let member = MemberId { turn: turn(1), step: 1, index };
        TurnRequest::Report {
            by: self.by(),
            member,
            outcome,
            card: card(300 + u64::from(index)),
            now,
        }
    }

    pub(super) fn delivery(&self) -> NewDelivery {
        NewDelivery {
            by: self.by(),
            is_failure: false,
            deliverable: card(400),
            fields: Vec::new(),
            results: Vec::new(),
            now: LATE,
        }
    }
}

/// An execution that ended in time.
pub(super) const IN_TIME: WaitOutcome = WaitOutcome::Ended { after: None };

/// A call with this number, of an execution.
pub(super) fn member(number: u64) -> NewMember {
    NewMember {
        tool: "read_file".to_owned(),
        call_id: format!("call_{number}"),
        card: card(200 + number),
        source: NewSource::Execution,
        deadline: Some(DEADLINE),
        after: AfterExecution::Suspend,
    }
}

/// The turn that the first call of turn 1 delegates.
pub(super) fn child() -> TurnId {
    MemberId { turn: turn(1), step: 1, index: 0 }.delegated()
}

/// The answer of a model that makes these calls.
pub(super) fn makes(calls: Vec<AgentCall>) -> Work {
    Work::Call(ModelAnswer { calls, ..ModelAnswer::default() })
}

/// A call with this number, for which its turn waits this long.
pub(super) fn agent_call(number: u64, target: CallTarget, within: Option<Duration>) -> AgentCall {
    let (tool, call_id) = ("look".to_owned(), format!("call_{number}"));
    AgentCall { tool, call_id, target, within, after: AfterExecution::Suspend }
}

/// The helper, with box 2.
pub(super) fn to_helper() -> CallTarget {
    let NewTurn { agent, task, .. } = new_turn("helper", 2, 2);
    CallTarget::Agent { agent, task }
}

/// A call to the helper, with box 2.
pub(super) fn delegation() -> NewMember {
    let NewTurn { agent, task, .. } = new_turn("helper", 2, 2);
    NewMember { source: NewSource::Turn { agent, task }, ..member(0) }
}
