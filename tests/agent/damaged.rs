//! Rows that were edited in the file. Those of calls do not keep a stopped turn from its end.

use machine::{
    Id,
    agent::{
        ActiveTurn, Agent, AgentId, CallTarget, Deliverable, Driver, MemberId, StopReason, TurnEnd,
        Work,
    },
    observe::Observer,
    store::Query,
    worker::{Failure, Task},
};
use serde_json::{Value, json};

use super::{
    queue::{queued, staff, story},
    scenarios::results,
    sets::{Tools, calls},
    support::{agent_call, id, makes, new_turn, to_helper, turn},
};
use crate::{
    store::support::Place,
    worker::prelude::{Duration, ann, settle, worker},
};

/// Asks twice, and delegates a turn to the helper, which is done at once.
struct Asker;

impl Agent for Asker {
    async fn run(&self, agent: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        if agent.0 == "helper" {
            return Ok(Deliverable::Done(json!("done")).into());
        }
        let within = Some(Duration::from_hours(1));
        let targets = [CallTarget::Outside, CallTarget::Outside, to_helper()];
        let calls = (0..).zip(targets).map(|(number, it)| agent_call(number, it, within));
        Ok(makes(calls.collect()))
    }
}

fn interrupted() -> Value {
    json!({ "error": { "interrupted": StopReason::Requested.to_string() } })
}

/// Edits one row.
fn edit(place: &Place, edit: &str) {
    assert_eq!(place.unprotected().execute(edit, []).unwrap(), 1, "{edit}");
}

/// Edits the record of this kind with this id.
fn edit_record(place: &Place, kind: &str, id: Id) {
    let id = id.to_string().replace('-', "");
    let of = format!("kind = '{kind}' AND lower(hex(id)) = '{id}'");
    edit(place, &format!("UPDATE record SET body = body || ' ' WHERE {of}"));
}

async fn assert_stopped(place: &Place) {
    let (_, events) = story(&place.store, "planner").await;
    assert_eq!(events[0].end, TurnEnd::Stopped(StopReason::Requested));
}

/// The other results are delivered with the turn.
#[tokio::test]
async fn only_the_call_whose_record_was_edited_is_interrupted() {
    let place = Place::new().await;
    let agents = queued(&place.store, 1).await;
    settle(worker(&place.store).handler(Driver(Asker))).await;
    for index in [0, 1] {
        let call = MemberId { turn: turn(1), step: 1, index };
        agents.answer(call, json!(format!("answer {index}"))).await.unwrap();
    }
    for of in
        ["kind = 'answer' AND body LIKE '%answer 0%'", "kind = 'turn' AND body LIKE '%helper%'"]
    {
        edit(&place, &format!("UPDATE record SET body = body || ' ' WHERE {of}"));
    }
    agents.stop(turn(1), ann()).await.unwrap();
    settle(worker(&place.store).handler(Driver(Asker))).await;

    assert_stopped(&place).await;
    let found = results(&agents).await;
    assert_eq!(found[..2], [interrupted(), json!({ "answer": "answer 1" })]);
    assert_eq!(found[2]["end"], "done", "it was reported before");
}

/// An answer whose calls cannot be written is let go in the end: the delivery needs other rows.
#[tokio::test]
async fn a_turn_that_delegates_to_a_box_that_was_edited_ends() {
    let place = Place::new().await;
    let agents = staff(&place.store).await;
    agents.enqueue(new_turn("helper", 9, 2)).await.unwrap();
    settle(worker(&place.store).handler(Driver(Asker))).await;
    edit_record(&place, "box", id(2));
    agents.enqueue(new_turn("planner", 1, 1)).await.unwrap();
    settle(worker(&place.store).handler(Driver(Asker))).await;
    let (_, events) = story(&place.store, "planner").await;
    assert_eq!(events[0].end, TurnEnd::Stopped(StopReason::Attempts));
}

#[tokio::test]
async fn only_the_call_whose_row_was_edited_is_interrupted() {
    let place = Place::new().await;
    let agents = queued(&place.store, 1).await;
    let (tools, made) = (Tools::open(), calls(["first", "second"]));
    settle(tools.deaf(&place.store, made.clone())).await;
    agents.stop(turn(1), ann()).await.unwrap();
    edit(&place, "UPDATE child SET seal = zeroblob(32) WHERE position = 0");
    settle(tools.deaf(&place.store, made)).await;

    assert_stopped(&place).await;
    assert_eq!(results(&agents).await, [interrupted(), json!({ "receipt": "second" })]);
}

#[tokio::test]
async fn a_queued_turn_that_cannot_be_read_hides_neither_its_agent_nor_the_others() {
    let place = Place::new().await;
    queued(&place.store, 3).await;
    edit_record(&place, "turn", turn(2).0);
    let page = Observer::new(&place.store).agents(&Query::new(), 10).await.unwrap();
    let (agents, errors): (Vec<_>, Vec<_>) = page.items.into_iter().partition(Result::is_ok);
    let agents: Vec<_> = agents.into_iter().map(Result::unwrap).collect();
    let planner = agents.iter().find(|it| it.agent.0 == "planner").unwrap();
    assert_eq!(planner.active.as_ref().unwrap().turn, turn(1));
    let shown: Vec<_> = planner.queued.iter().map(|it| it.turn).collect();
    assert_eq!(shown, [turn(3)]);
    let errors: Vec<_> = errors.into_iter().map(|it| it.unwrap_err().to_string()).collect();
    assert!(matches!(&errors[..], [error] if error.contains("`planner`")), "{errors:?}");
}
