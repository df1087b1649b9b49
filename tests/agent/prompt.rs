//! What a turn asks its model (TN-12): at each moment of random turns, messages that strict
//! checkers of two APIs accept, or a refusal that names the open calls.

mod checkers;

use std::collections::BTreeMap;

use machine::{
    agent::{
        ActiveTurn, AfterExecution, Agent, AgentCall, AgentId, CallSource, CallTarget, Card,
        CardId, CardKind, Conversation, ConversationError, Deliverable, Driver, MemberId,
        ModelAnswer, NewAnswer, NewCard, NewDelivery, NewMember, NewSource, NewTurn, Phase,
        StopReason, TurnEpoch, TurnId, TurnRequest, WaitOutcome, Work, decide,
    },
    contract::{CallError, ToolCall, ToolSpec},
    worker::{Failure, Task},
};
use machine_tests::random::Random;
use serde_json::{Value, json};

use super::{
    queue::staff,
    support::{Desk, EARLY, IN_TIME, LATE, agent, card, delegation, id, member, new_turn, turn},
};
use crate::worker::prelude::{Arc, Duration, Hand, Mutex, Store, settle, timed, worker};

fn task(turn: TurnId) -> String {
    format!("Task {turn}")
}

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

/// Strict checkers accept what a turn asks with these cards, and it begins with what was asked
/// before. If calls are open, exactly these are named, and it returns `None`.
pub(super) fn check_moment(
    active: &ActiveTurn,
    cards: &[(Card, Value)],
    open: &[MemberId],
    before: Option<&Conversation>,
) -> Option<Conversation> {
    let asked = match Conversation::of(active, cards, task) {
        Ok(asked) => asked,
        Err(ConversationError::Open { members }) => {
            assert_eq!(members, open);
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    assert!(open.is_empty(), "{open:?}");
    if let Err(why) = checkers::openai(asked.openai()) {
        panic!("{why}: {:#?}", asked.openai());
    }
    if let Err(why) = checkers::anthropic(asked.anthropic()) {
        panic!("{why}: {:#?}", asked.anthropic());
    }
    if let Some(before) = before {
        assert!(asked.openai().starts_with(before.openai()), "{before:#?}\n{asked:#?}");
        assert!(asked.anthropic().starts_with(before.anthropic()), "{before:#?}\n{asked:#?}");
    }
    Some(asked)
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

/// The conversation of a turn in which the answer, and each call and result, have these bodies. The
/// cards are in the wrong order.
fn conversation(
    desk: &Desk,
    body: impl Fn(&Card) -> Value,
) -> Result<Conversation, ConversationError> {
    let cards = desk.rows.cards.values().rev().map(|card| (*card, body(card)));
    Conversation::of(desk.active(), &cards.collect::<Vec<_>>(), task)
}

/// The message of a model that makes this number of calls.
fn answer(calls: usize) -> Value {
    let function = json!({ "name": "read_file", "arguments": "{}" });
    json!({ "tool_calls": vec![json!({ "id": "call_0", "function": function }); calls] })
}

/// Three calls that end in another order.
fn three_calls() -> Conversation {
    let mut desk = Desk::waiting(vec![member(0), member(1), member(2)]);
    let body = |card: &Card| match card.kind {
        CardKind::Answer => answer(3),
        _ => json!({ "receipt": format!("text {}", card.index) }),
    };
    for (index, left) in [(2, vec![0, 1]), (0, vec![1])] {
        desk.finish(index);
        let asked = conversation(&desk, body);
        let Err(ConversationError::Open { members }) = &asked else { panic!("{asked:?}") };
        assert_eq!(members.iter().map(|it| it.index).collect::<Vec<_>>(), left);
        let error = asked.unwrap_err().to_string();
        assert!(error.contains(&format!("{}/1/1", turn(1))), "{error}");
    }
    desk.finish(1);
    conversation(&desk, body).unwrap()
}

#[test]
fn results_follow_their_calls_in_the_order_of_the_answer() {
    let asked = three_calls();
    let results = asked.openai()[2..].iter().map(|message| &message["content"]);
    assert!(results.eq(&["text 0", "text 1", "text 2"].map(Value::from)));
    let [_, calls, results] = asked.anthropic() else { panic!("{asked:?}") };
    for index in 0..3 {
        let (call, result) = (&calls["content"][index], &results["content"][index]);
        assert_eq!(call["id"], result["tool_use_id"]);
        assert_eq!(result["content"], format!("text {index}"));
    }
}

fn results(messages: &mut [Value]) -> &mut Vec<Value> {
    messages[2]["content"].as_array_mut().unwrap()
}

fn another() -> Value {
    json!({ "role": "user", "content": "And?" })
}

/// A result that is missing, that is there twice, and that comes after something else.
#[test]
fn the_checkers_refuse_what_providers_refuse() {
    type Defect = fn(&mut Vec<Value>);
    let asked = three_calls();
    let openai: [(Defect, &str); 3] = [
        (|it| drop(it.pop()), "calls without results at the end"),
        (|it| it.push(it[4].clone()), "a result that no call waits for"),
        (|it| it.insert(3, another()), "calls without results before"),
    ];
    let anthropic: [(Defect, &str); 4] = [
        (|it| drop(results(it).pop()), "calls without results"),
        (|it| results(it).extend_from_within(2..), "a result that no call waits for"),
        (|it| it.insert(2, another()), "calls without results before"),
        (|it| results(it).insert(0, json!({ "type": "text", "text": "And?" })), "after a text"),
    ];
    for (defect, why) in openai {
        let mut messages = asked.openai().to_vec();
        checkers::openai(&messages).unwrap();
        defect(&mut messages);
        let refused = checkers::openai(&messages).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    for (defect, why) in anthropic {
        let mut messages = asked.anthropic().to_vec();
        checkers::anthropic(&messages).unwrap();
        defect(&mut messages);
        let refused = checkers::anthropic(&messages).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn each_outcome_has_a_text_of_its_own() {
    let (by, reason) = ("ann".to_owned(), "too dear".to_owned());
    let cancelled = CallError::<String>::Cancelled { by: Some(by.clone()), reason: reason.clone() };
    let declined = CallError::<String>::Declined { by, reason };
    let running = format!("Still running: execution {} goes on", id(7));
    let stopped = "a stop was requested";
    for (body, text) in [
        (json!({ "receipt": "two files" }), "two files"),
        (json!({ "receipt": " " }), "(no text)"),
        (json!("not today"), "not today"),
        (json!({ "answer": "yes" }), "yes"),
        (json!({ "error": declined }), "Denied by ann, and not made: too dear"),
        (json!({ "error": cancelled }), "Uncertain: cancelled by ann: too dear. It may have"),
        (json!({ "error": { "of": "a newer version" } }), "Uncertain: {"),
        (json!({ "error": { "interrupted": stopped } }), "Interrupted before it had a result: a"),
        (json!({ "error": { "not_made": stopped } }), "Never started: a stop was requested."),
        (json!({ "error": { "refused": "no agent" } }), "Never started: no agent."),
        (
            json!({ "error": { "refused": { "message": "exit 1" } } }),
            "It did not take effect: exit",
        ),
        (json!({ "error": CallError::<String>::Expired }), "Never started: it was not approved"),
        (json!({ "error": { "overdue": { "execution": id(7) } } }), &*running),
    ] {
        let mut desk = Desk::answered(new_turn("planner", 1, 1), 1);
        let closed = NewMember { source: NewSource::Closed(card(300)), ..member(0) };
        desk.write(&desk.call(vec![closed]));
        let asked = conversation(&desk, |card| match card.kind {
            CardKind::Answer => answer(1),
            _ => body.clone(),
        });
        let asked = asked.unwrap();
        let told = asked.openai()[2]["content"].as_str().unwrap();
        assert!(told.starts_with(text), "{body}: {told}");
    }
}

/// An agent may close a call with anything.
#[test]
fn what_a_call_is_closed_with_is_told_as_it_is() {
    let free = json!({ "error": "no such file" });
    let refused = json!({ "error": { "refused": "no agent" } });
    for (body, text) in [(&free, &*free.to_string()), (&refused, "Never started: no agent.")] {
        let mut desk = Desk::answered(new_turn("planner", 1, 1), 1);
        let closed = NewMember { source: NewSource::Closed(card(300)), ..member(0) };
        desk.write(&desk.call(vec![closed]));
        let asked = conversation(&desk, |card| match card.kind {
            CardKind::Answer => answer(1),
            CardKind::ToolCall => json!({ "tool": "read", "call_id": "call_0", "closed": true }),
            _ => body.clone(),
        });
        assert_eq!(asked.unwrap().openai()[2]["content"], text);
    }
}

/// A result can name any card, also one of its own box.
#[test]
fn a_card_that_is_there_twice_is_asked_once() {
    let mut desk = Desk::waiting(vec![member(0)]);
    desk.finish(0);
    let body = |card: &Card| match card.kind {
        CardKind::Answer => answer(1),
        _ => json!({ "end": "done", "deliverable": id(100) }),
    };
    let cards = desk.rows.cards.values().map(|card| (*card, body(card)));
    let (once, twice): (Vec<_>, Vec<_>) =
        (cards.clone().collect(), cards.clone().chain(cards).collect());
    let asked = [once, twice].map(|cards| Conversation::of(desk.active(), &cards, task).unwrap());
    assert_eq!(asked[0], asked[1]);
}

/// Keeps what it asks. In its first turn, it calls another agent, and a call of it is denied.
struct Curious(Arc<Mutex<Vec<Conversation>>>);

fn thought() -> Value {
    json!({ "type": "thinking", "thinking": "", "signature": "c2lnbmF0dXJl" })
}

impl Agent for Curious {
    async fn run(&self, agent: &AgentId, active: &ActiveTurn, of: &Task) -> Result<Work, Failure> {
        if agent.0 == "helper" {
            return Ok(Deliverable::Done(json!("42")).into());
        }
        let asked = Conversation::load(of.store(), active, task).await?;
        self.0.lock().unwrap().push(asked);
        if active.id != turn(1) || active.step > 1 {
            return Ok(Deliverable::Done(json!("done")).into());
        }
        let NewTurn { agent, task, .. } = new_turn("helper", 2, 2);
        let (by, reason) = ("ann".to_owned(), "too dear".to_owned());
        let declined = json!({ "error": CallError::<String>::Declined { by, reason } });
        let targets = [CallTarget::Agent { agent, task }, CallTarget::Closed(declined)];
        let calls = targets.map(|target| AgentCall {
            tool: "ask".to_owned(),
            call_id: "call_0".to_owned(),
            target,
            within: Some(Duration::from_secs(10)),
            after: AfterExecution::Suspend,
        });
        let call = json!({ "type": "tool_use", "id": "call_0", "name": "ask", "input": {} });
        let body = json!({ "content": [thought(), call, call] });
        Ok(Work::Call(ModelAnswer { body, calls: calls.into(), tokens: 1, cost: 1 }))
    }
}

#[test]
fn an_agent_asks_with_the_cards_of_its_box() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        for number in [1, 2] {
            agents.enqueue(new_turn("planner", number, 1)).await.unwrap();
        }
        let asked = Arc::new(Mutex::new(Vec::new()));
        settle(worker(&store).handler(Driver(Curious(Arc::clone(&asked))))).await;

        let asked = asked.lock().unwrap();
        let [first, second, last] = &asked[..] else { panic!("{asked:?}") };
        for (before, after) in [(first, second), (second, last)] {
            assert!(after.openai().starts_with(before.openai()), "{asked:?}");
            assert!(after.anthropic().starts_with(before.anthropic()), "{asked:?}");
        }
        checkers::openai(last.openai()).unwrap();
        checkers::anthropic(last.anthropic()).unwrap();
        let said = last.openai().iter().filter_map(|message| message["content"].as_str());
        let (one, two) = (task(turn(1)), task(turn(2)));
        let expected = [
            &*one,
            "The other agent has ended: done. Its result: 42",
            "Denied by ann, and not made: too dear",
            "done",
            &*two,
        ];
        assert_eq!(said.collect::<Vec<_>>(), expected);
        assert_eq!(last.anthropic()[1]["content"][0], thought());
    });
}
