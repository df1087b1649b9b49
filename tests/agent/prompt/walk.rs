//! Each moment of random turns.

use std::collections::BTreeMap;

use machine::{
    agent::{
        ActiveTurn, AfterExecution, CallSource, Card, CardId, Conversation, MemberId, NewAnswer,
        NewCard, NewDelivery, NewMember, NewSource, Phase, StopReason, TurnEpoch, TurnRequest,
        WaitOutcome, decide,
    },
    contract::{CallError, ToolCall, ToolSpec},
};
use machine_tests::random::Random;
use serde_json::{Value, json};

use super::check_moment;
use crate::agent::support::{
    Desk, EARLY, IN_TIME, LATE, agent, card, delegation, id, member, new_turn,
};

/// Random turns of the planner, one after the other in one box.
struct Walk {
    random: Random,
    desk: Desk,
    cards: Vec<(Card, Value)>,
    bodies: BTreeMap<CardId, Value>,
    turns: u64,
    /// The messages of the last moment that had some.
    asked: Option<Conversation>,
    refused: u32,
}

impl Walk {
    fn new(random: Random) -> Self {
        let (cards, bodies, turns, asked, refused) = Default::default();
        Self { random, desk: Desk::new(), cards, bodies, turns, asked, refused }
    }

    fn card(&mut self, body: Value) -> NewCard {
        let new = card(1000 + self.bodies.len() as u64);
        self.bodies.insert(new.id, body);
        new
    }

    /// The message of a provider, often with mistakes of its model.
    fn answer(&mut self, by: TurnEpoch) -> TurnRequest {
        let calls = self.random.below(4);
        let written = *self.random.pick(&[calls, calls, calls, calls.saturating_sub(1), calls + 1]);
        let text = *self.random.pick(&["I shall look.", "", "  "]);
        let name = *self.random.pick(&["read_file", "files.read", "", "прочитать"]);
        let arguments = *self.random.pick(&[r#"{"path": "a"}"#, r#"{"path":"#, "[1]", ""]);
        let body = match self.random.below(5) {
            0 => Value::Null,
            1 | 2 => {
                let function = json!({ "name": name, "arguments": arguments });
                let call = json!({ "id": "call_0", "type": "function", "function": function });
                json!({ "content": text, "tool_calls": vec![call; written], "reasoning": "hm" })
            }
            _ => {
                let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" });
                let mut content = vec![thought, json!({ "type": "text", "text": text })];
                let call = json!({ "type": "tool_use", "id": "", "name": name, "input": [1] });
                content.extend(vec![call; written]);
                json!({ "content": content })
            }
        };
        let (card, calls) = (self.card(body), u32::try_from(calls).unwrap());
        TurnRequest::Answered(NewAnswer { by, card, calls, tokens: 1, cost: 1, now: EARLY })
    }

    fn result(&mut self) -> NewCard {
        let bodies = [
            json!({ "receipt": "text" }),
            json!({ "receipt": "" }),
            json!("denied"),
            json!({ "error": CallError::<String>::Expired }),
            json!({ "error": { "overdue": { "execution": id(7) } } }),
            json!({ "error": null }),
        ];
        let body = self.random.pick(&bodies).clone();
        self.card(body)
    }

    fn member(&mut self, at: u64) -> NewMember {
        let spec = ToolSpec::idempotent("files", "read").unwrap();
        let call = ToolCall::new(&spec, r#"{"path": "b"}"#).unwrap();
        let card = self.card(json!({ "tool": "read.file", "call_id": "", "call": call }));
        let made = NewMember { card, ..member(at) };
        let last = AfterExecution::Terminate;
        let after = if self.random.percent(10) { last } else { made.after };
        let source = match self.random.below(5) {
            0 => NewSource::Closed(self.result()),
            1 => delegation().source,
            _ => NewSource::Execution,
        };
        NewMember { after, source, ..made }
    }

    fn report(&mut self, by: TurnEpoch, active: &ActiveTurn) -> TurnRequest {
        let waits = self.random.pick(&active.waiting);
        let (member, is_turn) = (waits.id, matches!(waits.source, CallSource::Turn(_)));
        let (outcome, now) = if is_turn || self.random.percent(20) {
            (WaitOutcome::TimedOut, LATE)
        } else {
            self.desk.rows.ends.insert(member, EARLY);
            (IN_TIME, EARLY)
        };
        TurnRequest::Report { by, member, outcome, card: self.result(), now }
    }

    fn delivery(&mut self, active: &ActiveTurn) -> TurnRequest {
        let unanswered = active.unanswered().into_iter();
        let results = unanswered.map(|index| {
            let what = if index < active.unmade { "not_made" } else { "interrupted" };
            (index, self.card(json!({ "error": { what: "a stop was requested" } })))
        });
        let results = results.collect();
        let deliverable = self.card(json!({ "step": active.step }));
        TurnRequest::Deliver(NewDelivery { results, deliverable, ..self.desk.delivery() })
    }

    fn request(&mut self) -> TurnRequest {
        let Some(active) = self.desk.rows.heads[&agent("planner")].active.clone() else {
            self.turns += 1;
            return TurnRequest::UiAction { new: new_turn("planner", self.turns, 1), now: EARLY };
        };
        let by = self.desk.by();
        match (self.random.below(30), active.phase) {
            (0, _) => TurnRequest::Reclaim { by },
            (1, _) => TurnRequest::Stop { turn: active.id, why: StopReason::Requested },
            (_, Phase::Dispatched) => TurnRequest::Claim { by },
            (2 | 3, Phase::Running { .. }) => self.delivery(&active),
            (_, Phase::Running { .. }) if active.must_deliver() => self.delivery(&active),
            (_, Phase::Running { answer: None }) => self.answer(by),
            (_, Phase::Running { .. }) => {
                let members = (0..u64::from(active.unmade)).map(|at| self.member(at)).collect();
                TurnRequest::Call { by, members, now: EARLY }
            }
            (_, Phase::Suspended) => self.report(by, &active),
        }
    }

    fn step(&mut self) {
        let request = self.request();
        // Of a turn that is stopped, or whose answers were rejected too often.
        let Ok(batch) = decide(&self.desk.rows, &request) else { return };
        let bodies = &self.bodies;
        self.cards.extend(batch.cards.iter().map(|it| (*it, bodies[&it.header.id].clone())));
        self.desk.rows.apply(&batch);
        if self.desk.rows.heads[&agent("planner")].active.is_some() {
            self.check();
        }
    }

    fn check(&mut self) {
        let active = self.desk.active();
        let in_step = |index| MemberId { turn: active.id, step: active.step, index };
        let open: Vec<MemberId> = active.unanswered().into_iter().map(in_step).collect();
        let asked = check_moment(active, &self.cards, &open, self.asked.as_ref());
        if asked.is_none() {
            self.refused += 1;
            return;
        }
        self.asked = asked;
    }
}

#[test]
fn each_moment_of_a_turn_is_refused_or_has_messages_that_begin_with_the_earlier_ones() {
    let mut random = Random::of("each_moment_of_a_turn");
    let (mut refused, mut messages, mut turns) = (0, 0, 0);
    for _ in 0..100 {
        let mut walk = Walk::new(Random::new(random.number()));
        for _ in 0..80 {
            walk.step();
        }
        refused += walk.refused;
        messages += walk.asked.map_or(0, |asked| asked.openai().len());
        turns += walk.turns;
    }
    eprintln!("{refused} moments refused; {messages} messages in {turns} turns");
    assert!(refused > 500 && messages > 1500 && turns > 200);
}
