//! Calls that are answered from outside: once, in time or late, and by whoever knows their id.

use machine::{
    agent::{
        ActiveTurn, Agent, AgentError, AgentId, Agents, BoxId, CallTarget, CardKind, Deliverable,
        Driver, MAX_CARD, MemberId, TurnRefusal, Work,
    },
    worker::{Failure, Task},
};
use serde_json::{Value, json};

use super::{
    queue::{passes, queued, story},
    sets::waiting,
    support::{agent_call, id, makes, turn},
};
use crate::worker::prelude::{Duration, Hand, Store, assert_err, settle, timed, until, worker};

/// The time that a turn waits for the second answer.
const LIMIT: Duration = Duration::from_secs(10);

/// Asks twice in the first step of the planner.
struct Asker;

impl Agent for Asker {
    async fn run(&self, agent: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        if agent.0 != "planner" || active.step > 1 || active.must_deliver() {
            return Ok(Deliverable::Done(json!({ "step": active.step })).into());
        }
        let calls = (0..).zip([None, Some(LIMIT)]);
        let calls = calls.map(|(number, within)| agent_call(number, CallTarget::Outside, within));
        Ok(makes(calls.collect()))
    }
}

fn call(index: u32) -> MemberId {
    MemberId { turn: turn(1), step: 1, index }
}

/// The results of the calls, in the order in which they were reported, and the deliverable.
async fn bodies(agents: &Agents) -> Vec<Value> {
    let mut cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
    cards.retain(|(card, _)| matches!(card.kind, CardKind::ToolResult | CardKind::Deliverable));
    cards.into_iter().map(|(_, body)| body).collect()
}

#[test]
fn a_call_is_answered_once() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        let running = worker(&store).handler(Driver(Asker)).start();
        until("it asks", async || waiting(&agents).await == Some(2)).await;
        for unknown in [call(2), MemberId { turn: turn(2), ..call(0) }] {
            let refused = agents.answer(unknown, json!(1)).await;
            assert_err!(
                refused,
                AgentError::Refused(TurnRefusal::UnknownCall { member }) if *member == unknown
            );
        }
        let large = json!("a".repeat(usize::try_from(MAX_CARD).unwrap()));
        let refused = agents.answer(call(0), large).await;
        assert_err!(refused, AgentError::Refused(TurnRefusal::TooLarge { .. }));

        let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        let last = json!({ "__cg_control": { "after_execution": "terminate" } });
        agents.answer(call(1), deep.clone()).await.unwrap();
        until("the first answer is reported", async || waiting(&agents).await == Some(1)).await;
        agents.answer(call(0), last.clone()).await.unwrap();
        until("the turn is delivered", async || waiting(&agents).await.is_none()).await;
        for _ in 0..2 {
            agents.answer(call(1), deep.clone()).await.unwrap();
            let other = agents.answer(call(1), json!("no")).await;
            assert_err!(other, AgentError::Refused(TurnRefusal::FinishedCall { .. }));
        }
        running.stop().await.unwrap();

        let moves = ["dispatch", "claim", "call", "report", "report", "deliver"];
        assert_eq!(story(&store, "planner").await.0, moves);
        // The deep one is a level deeper in its card, which could not be read again.
        let text = json!({ "answer": deep.to_string() });
        let expected = [text, json!({ "answer": last }), json!({ "step": 1 })];
        assert_eq!(bodies(&agents).await, expected);
    });
}

/// The answers came an hour later than now, and in time.
#[test]
fn an_answer_is_reported_although_the_clock_has_gone_back() {
    timed(async |store: Store, hand: Hand| {
        let agents = queued(&store, 1).await;
        settle(worker(&store).handler(Driver(Asker))).await;
        for (index, left) in [(1, Some(1)), (0, None)] {
            agents.answer(call(index), json!(index)).await.unwrap();
            hand.advance(-3_600_000);
            settle(worker(&store).handler(Driver(Asker))).await;
            assert_eq!(waiting(&agents).await, left);
        }
        let expected = [json!({ "answer": 1 }), json!({ "answer": 0 }), json!({ "step": 2 })];
        assert_eq!(bodies(&agents).await, expected);
    });
}

/// It is kept, so that whoever sends it can stop.
#[test]
fn a_late_answer_changes_nothing() {
    timed(async |store: Store, hand: Hand| {
        let agents = queued(&store, 1).await;
        let running = worker(&store).handler(Driver(Asker)).start();
        until("it asks", async || waiting(&agents).await == Some(2)).await;
        agents.answer(call(0), json!("yes")).await.unwrap();
        until("the answer is reported", async || waiting(&agents).await == Some(1)).await;
        passes(LIMIT, &hand, &agents, 2).await;
        until("the turn is delivered", async || waiting(&agents).await.is_none()).await;
        let before = bodies(&agents).await;
        agents.answer(call(1), json!("no")).await.unwrap();
        let other = agents.answer(call(1), json!("yes")).await;
        assert_err!(other, AgentError::Refused(TurnRefusal::FinishedCall { .. }));
        running.stop().await.unwrap();

        let overdue = json!({ "error": { "overdue": null } });
        assert_eq!(before, [json!({ "answer": "yes" }), overdue, json!({ "step": 2 })]);
        assert_eq!(bodies(&agents).await, before);
    });
}
