//! What a turn asks its model (TN-12): at each moment of random turns, messages that strict
//! checkers of two APIs accept, or a refusal that names the open calls.

mod checkers;
mod walk;

use machine::{
    agent::{
        ActiveTurn, Agent, AgentId, CallTarget, Card, CardKind, Conversation, ConversationError,
        Deliverable, Driver, MemberId, ModelAnswer, NewMember, NewSource, TurnId, Work,
    },
    contract::CallError,
    worker::{Failure, Task},
};
use serde_json::{Value, json};

use super::{
    queue::queued,
    support::{Desk, agent_call, card, id, member, new_turn, to_helper, turn},
};
use crate::worker::prelude::{Arc, Duration, Hand, Mutex, Store, settle, timed, worker};

fn task(turn: TurnId) -> String {
    format!("Task {turn}")
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

/// The conversation of a turn in which the answer, and each call and result, have these bodies. The
/// cards are in the wrong order.
fn conversation(
    desk: &Desk,
    body: impl Fn(&Card) -> Value,
) -> Result<Conversation, ConversationError> {
    let cards = desk.cards.iter().rev().map(|card| (*card, body(card)));
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

/// What the model is told of its only call, which was closed: the call and its result are these.
fn told(call: &Value, result: &Value) -> String {
    let mut desk = Desk::answered(new_turn("planner", 1, 1), 1);
    let closed = NewMember { source: NewSource::Closed(card(300)), ..member(0) };
    desk.write(&desk.call(vec![closed]));
    let asked = conversation(&desk, |card| match card.kind {
        CardKind::Answer => answer(1),
        CardKind::ToolCall => call.clone(),
        _ => result.clone(),
    });
    asked.unwrap().openai()[2]["content"].as_str().unwrap().to_owned()
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
        let told = told(&body, &body);
        assert!(told.starts_with(text), "{body}: {told}");
    }
}

/// An agent may close a call with anything.
#[test]
fn what_a_call_is_closed_with_is_told_as_it_is() {
    let free = json!({ "error": "no such file" });
    let refused = json!({ "error": { "refused": "no agent" } });
    let named = json!({ "end": "x", "deliverable": id(100) });
    let rows = [
        (&free, &*free.to_string()),
        (&refused, "Never started: no agent."),
        (&named, &*named.to_string()),
    ];
    for (body, text) in rows {
        let call = json!({ "tool": "read", "call_id": "call_0", "closed": true });
        assert_eq!(told(&call, body), text);
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
    let cards = desk.cards.iter().map(|card| (*card, body(card)));
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
        let (by, reason) = ("ann".to_owned(), "too dear".to_owned());
        let declined = json!({ "error": CallError::<String>::Declined { by, reason } });
        let targets = [to_helper(), CallTarget::Closed(declined)];
        let calls = targets.map(|target| agent_call(0, target, Some(Duration::from_secs(10))));
        let call = json!({ "type": "tool_use", "id": "call_0", "name": "ask", "input": {} });
        let body = json!({ "content": [thought(), call, call] });
        Ok(Work::Call(ModelAnswer { body, calls: calls.into(), tokens: 1, cost: 1 }))
    }
}

#[test]
fn an_agent_asks_with_the_cards_of_its_box() {
    timed(async |store: Store, _: Hand| {
        queued(&store, 2).await;
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
