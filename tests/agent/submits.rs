//! Results that a model submits (TN-10): delivered in the batch of their answer, or refused to it.

use machine::{
    agent::{
        ActiveTurn, Agent, AgentId, BoxId, CallTarget, CardKind, Driver, Limits, ModelAnswer,
        Resource, SUBMIT_RESULT, StopReason, TurnEnd, Work,
    },
    worker::{Failure, Task},
};
use serde_json::{Value, json};

use super::{
    queue::{limited, queued, staff, story},
    support::{agent_call, id, new_turn},
};
use crate::worker::prelude::{Hand, Store, settle, timed, worker};

/// Submits a result in each step. In the first ones it lacks a field, or is not the only call.
#[derive(Debug, Clone, Copy)]
struct Writer {
    lacks: u32,
    siblings: u32,
}

impl Agent for Writer {
    async fn run(&self, _: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        let lacks = active.step <= self.lacks;
        let result = if lacks { json!({ "links": 0 }) } else { json!({ "summary": "short" }) };
        let mut calls = vec![agent_call(0, CallTarget::Submit(result), None)];
        if active.step <= self.siblings {
            calls.push(agent_call(1, CallTarget::Closed(json!("denied")), None));
        }
        Ok(Work::Call(ModelAnswer { calls, tokens: 1, ..ModelAnswer::default() }))
    }
}

/// Each of the results has these words.
#[test]
fn a_model_submits_the_result_of_its_turn() {
    let (alone, lacks, done) = ("call it alone", "lacks `summary`", "\"delivered\":true");
    let writer = |lacks, siblings| Writer { lacks, siblings };
    let insists = [alone, "denied", alone, "denied", "not_made", "not_made"];
    let rows: [(Writer, &[&str], TurnEnd); 6] = [
        (writer(0, 0), &[done], TurnEnd::Done),
        (writer(0, 1), &[alone, "denied", done], TurnEnd::Done),
        (writer(2, 0), &[lacks, lacks, done], TurnEnd::Done),
        (writer(9, 0), &[lacks, lacks, "not_made"], TurnEnd::Failed),
        (writer(2, 1), &[alone, "denied", lacks, done], TurnEnd::Done),
        (writer(0, 9), &insists, TurnEnd::Failed),
    ];
    for (writer, results, end) in rows {
        timed(async |store: Store, _: Hand| {
            let agents = staff(&store).await;
            let mut new = new_turn("planner", 1, 1);
            new.task.terms.result_fields = vec!["summary".to_owned()];
            agents.enqueue(new).await.unwrap();
            settle(worker(&store).handler(Driver(writer))).await;

            let (moves, events) = story(&store, "planner").await;
            assert_eq!(events[0].end, end, "{writer:?}");
            let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
            let of = |kind| -> Vec<&Value> {
                cards.iter().filter(|(card, _)| card.kind == kind).map(|(_, body)| body).collect()
            };
            let found: Vec<String> =
                of(CardKind::ToolResult).into_iter().map(Value::to_string).collect();
            assert_eq!(found.len(), results.len(), "{found:?}");
            for (found, words) in found.iter().zip(results) {
                assert!(found.contains(words), "{found}");
            }
            let answers = of(CardKind::Answer).len();
            let answered = vec!["answer"; answers - 1];
            let expected = [vec!["dispatch", "claim"], answered, vec!["deliver"]].concat();
            assert_eq!(moves, expected, "the last answer is delivered at once");
            for call in of(CardKind::ToolCall).iter().filter(|call| call["call_id"] == "call_0") {
                assert_eq!(call["tool"], SUBMIT_RESULT);
            }
            let [deliverable] = of(CardKind::Deliverable)[..] else { panic!("{cards:?}") };
            let is_result = *deliverable == json!({ "summary": "short" });
            assert_eq!(is_result, end == TurnEnd::Done, "{deliverable}");
        });
    }
}

/// The answer that submits the result exceeds a limit.
#[test]
fn the_submitted_result_of_a_stopped_turn_is_its_deliverable() {
    timed(async |store: Store, _: Hand| {
        let agents = limited(&store, Limits { tokens: Some(0), ..Limits::default() }).await;
        settle(worker(&store).handler(Driver(Writer { lacks: 0, siblings: 0 }))).await;

        let (_, events) = story(&store, "planner").await;
        assert_eq!(events[0].end, TurnEnd::Stopped(StopReason::Limit(Resource::Tokens)));
        let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
        let bodies: Vec<_> = cards.into_iter().skip(1).map(|(_, body)| body).collect();
        assert_eq!(bodies, [json!({ "delivered": true }), json!({ "summary": "short" })]);
    });
}

/// Its answer and its result are nested deeply.
struct Nested;

fn nested() -> Value {
    (0..200).fold(json!(1), |inner, _| json!([inner]))
}

impl Agent for Nested {
    async fn run(&self, _: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        let (body, submits) = (nested(), CallTarget::Submit(nested()));
        let calls = vec![agent_call(0, submits, None)];
        Ok(Work::Call(ModelAnswer { body, calls, ..ModelAnswer::default() }))
    }
}

/// Otherwise no later turn could read the box.
#[test]
fn what_is_nested_too_deeply_to_be_read_again_is_kept_as_its_text() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        settle(worker(&store).handler(Driver(Nested))).await;

        let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
        let bodies: Vec<_> = cards.into_iter().map(|(_, body)| body).collect();
        let text = Value::from(nested().to_string());
        assert_eq!(bodies, [text.clone(), json!({ "delivered": true }), text]);
    });
}
