//! The events of agents, made from the journal of a file, and their activity, which is in no
//! journal (TN-13).

use machine::{
    agent::{
        Activity, AgentCall, AgentEvent, AgentEventKind, AgentEvents, AgentId, CallTarget, Driver,
        Signalling, TurnId,
    },
    store::Position,
};
use serde_json::{Value, json};

use super::{
    queue::{Clerk, lose, staff, story},
    sets::{Caller, Tools, calls},
    support::{agent, agent_call, child, id, new_turn, to_helper, turn},
};
use crate::worker::prelude::{Arc, Duration, Hand, Mutex, Store, ann, settle, timed, worker};

/// A call to the helper.
fn delegation() -> AgentCall {
    agent_call(9, to_helper(), Some(Duration::from_hours(1)))
}

/// The positions of all entries after this one, each with its events, as a new reader has them.
async fn told(store: &Store, from: Option<Position>) -> Vec<(Position, Vec<AgentEvent>)> {
    let newest = store.position().await.unwrap();
    let (agents, mut entries) = (AgentEvents::new(store), store.subscribe(from).await.unwrap());
    let mut told = Vec::new();
    while entries.position() < newest {
        let committed = entries.next().await.unwrap();
        told.push((committed.position, agents.of(&committed).await.unwrap()));
    }
    told
}

/// An event as JSON, with its position and its time.
fn row(event: &AgentEvent) -> Value {
    let (position, at) = (event.position.to_string(), event.timestamp);
    let mut row = json!(event);
    for (name, value) in [("position", json!(position)), ("timestamp", json!(at))] {
        assert_eq!(row.as_object_mut().unwrap().remove(name), Some(value));
    }
    row
}

/// A row of the table: the agent, its turn, the step, and what is told. The epoch is the first.
fn expected(name: &str, of: TurnId, step: u32, subject: &str, told: &Value) -> Value {
    let mut row = json!({
        "subject": format!("evt.agent.{name}.{subject}"), "agent_id": name, "agent_turn_id": of,
        "turn_epoch": 1, "step_id": step,
    });
    row.as_object_mut().unwrap().extend(told.as_object().unwrap().clone());
    row
}

#[test]
fn a_turn_that_delegates_tells_this() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        agents.enqueue(new_turn("planner", 1, 1)).await.unwrap();
        settle(worker(&store).handler(Driver(Caller(vec![delegation()])))).await;

        let mut ended = Vec::new();
        for of in [child(), turn(1)] {
            let record = agents.turn(of).await.unwrap().unwrap();
            ended.push(json!(record.status)["delivered"]["deliverable"].clone());
        }
        let state = |status: &str, trigger: &str, waiting: u32| {
            json!({
                "status": status, "trigger": trigger, "stop": null,
                "waiting_tool_count": waiting,
            })
        };
        let phase = |phase: &str| json!({ "phase": phase });
        let task = |output: u64, card: &Value| {
            let output = id(output);
            json!({ "status": "done", "output_box_id": output, "deliverable_card_id": card })
        };
        let (planner, helper) = (("planner", turn(1)), ("helper", child()));
        let table = [
            (planner, 1, "state", state("dispatched", "dispatch", 0)),
            (planner, 1, "state", state("running", "claim", 0)),
            (planner, 1, "step", phase("called")),
            (planner, 1, "state", state("suspended", "call", 1)),
            (helper, 1, "state", state("dispatched", "dispatch", 0)),
            (helper, 1, "state", state("running", "claim", 0)),
            (helper, 1, "step", phase("delivered")),
            (helper, 1, "task", task(2, &ended[0])),
            (helper, 1, "state", state("idle", "deliver", 0)),
            (planner, 1, "step", phase("completed")),
            (planner, 1, "state", state("running", "report", 0)),
            (planner, 2, "step", phase("delivered")),
            (planner, 2, "task", task(1, &ended[1])),
            (planner, 2, "state", state("idle", "deliver", 0)),
        ];
        let table =
            table.map(|((name, of), step, subject, it)| expected(name, of, step, subject, &it));
        let told = told(&store, None).await;
        let told: Vec<_> = told.iter().flat_map(|(_, events)| events).map(row).collect();
        assert_eq!(told, table);
    });
}

/// A turn that loses its worker, one that is over its time, one without a call that is made, and
/// one that is stopped in the queue.
async fn eventful(store: &Store, hand: &Hand) {
    let agents = staff(store).await;
    agents.enqueue(new_turn("planner", 1, 1)).await.unwrap();
    let (lost, hold) = Clerk::held();
    lose(worker(store).handler(Driver(lost)), &hold.0, hand).await;
    let made = [vec![delegation()], calls(["first", "second"])].concat();
    settle(Tools::open().worker(store, made)).await;

    let mut limited = new_turn("planner", 2, 1);
    limited.task.terms.limits.time_ms = Some(1000);
    agents.enqueue(limited).await.unwrap();
    for number in [3, 4] {
        agents.enqueue(new_turn("planner", number, 1)).await.unwrap();
    }
    agents.stop(turn(4), ann()).await.unwrap();
    hand.pass(Duration::from_mins(1));
    let mut denied = delegation();
    denied.target = CallTarget::Closed(json!({ "denied": "by ann" }));
    settle(worker(store).handler(Driver(Caller(vec![denied])))).await;
}

/// The triggers of a turn with their epochs, and the phases of its steps.
fn story_of(of: TurnId, events: &[AgentEvent]) -> (Vec<(&str, u64)>, Vec<Value>) {
    let (mut states, mut phases) = (Vec::new(), Vec::new());
    for event in events.iter().filter(|event| event.agent_turn_id == of) {
        match &event.kind {
            AgentEventKind::State { trigger, .. } => states.push((&**trigger, event.turn_epoch)),
            AgentEventKind::Step { phase } => phases.push(json!([event.step_id, phase])),
            _ => {}
        }
    }
    (states, phases)
}

/// Each turn tells its takeovers, its stop and its one end, and a reader that begins at any
/// position is told the rest as one that was there before.
#[test]
fn each_position_is_followed_by_the_same_events() {
    timed(async |store: Store, hand: Hand| {
        eventful(&store, &hand).await;
        let all = told(&store, None).await;
        let events: Vec<AgentEvent> = all.iter().flat_map(|(_, it)| it.clone()).collect();

        let (states, phases) = story_of(turn(1), &events);
        let expected = [
            ("dispatch", 1),
            ("claim", 1),
            ("reclaim", 2),
            ("call", 2),
            ("report", 2),
            ("report", 2),
            ("report", 2),
            ("deliver", 2),
        ];
        assert_eq!(states, expected);
        let phase = |step: u32, phase: &str| json!([step, phase]);
        let expected = [
            phase(1, "called"),
            phase(1, "reported"),
            phase(1, "reported"),
            phase(1, "completed"),
            phase(2, "delivered"),
        ];
        assert_eq!(phases, expected);
        let (states, _) = story_of(turn(2), &events);
        assert_eq!(states, [("dispatch", 3), ("limit", 3), ("deliver", 3)]);
        let (_, phases) = story_of(turn(3), &events);
        assert_eq!(phases, [phase(1, "rejected"), phase(2, "delivered")]);
        let stops = events.iter().filter_map(|event| match &event.kind {
            AgentEventKind::Task { status, .. } => Some((event.agent_turn_id, json!(status))),
            _ => None,
        });
        let of_planner: Vec<_> = stops.filter(|(of, _)| *of != child()).collect();
        let stopped = |why: Value| json!({ "stopped": why });
        let expected = [
            (turn(1), json!("done")),
            (turn(2), stopped(json!({ "limit": "time" }))),
            (turn(3), json!("done")),
            (turn(4), stopped(json!("requested"))),
        ];
        assert_eq!(of_planner, expected);

        for (at, (position, _)) in all.iter().enumerate() {
            assert_eq!(told(&store, Some(*position)).await, all[at + 1..], "after {position}");
        }
        // The order in which one reader gets the entries makes no difference.
        let agents = AgentEvents::new(&store);
        let mut entries = store.subscribe(None).await.unwrap();
        let mut committed = Vec::new();
        for _ in &all {
            committed.push(entries.next().await.unwrap());
        }
        for (committed, (position, events)) in committed.iter().zip(&all).rev() {
            assert_eq!(agents.of(committed).await.unwrap(), *events, "backwards, {position}");
        }
    });
}

/// A function that panics stops no turn. For an answer of which no call is made, no turn waits.
#[test]
fn signals_say_what_an_agent_does_and_cost_no_turn() {
    for (panics, is_made) in [(false, true), (true, true), (false, false)] {
        timed(async |store: Store, _: Hand| {
            staff(&store).await.enqueue(new_turn("planner", 1, 1)).await.unwrap();
            let heard = Arc::new(Mutex::new(Vec::new()));
            let hears = Arc::clone(&heard);
            let tell = move |agent: &AgentId, turn: TurnId, activity: Activity| {
                hears.lock().unwrap().push((agent.clone(), turn, json!(activity)));
                assert!(!panics, "nobody listens");
            };
            let mut call = delegation();
            if !is_made {
                call.target = CallTarget::Closed(json!("denied"));
            }
            let caller = Caller(vec![call]);
            settle(worker(&store).handler(Driver(Signalling(caller, tell)))).await;

            let thinking = json!({ "activity": "thinking" });
            let awaiting = json!({ "activity": "awaiting_tool_result", "waiting_tool_count": 1 });
            let (planner, helper) = (agent("planner"), agent("helper"));
            let thinks = (planner.clone(), turn(1), thinking.clone());
            let waits = [(planner, turn(1), awaiting), (helper, child(), thinking)];
            let (mut expected, mut moves) = (vec![thinks.clone()], vec!["dispatch", "claim"]);
            if is_made {
                expected.extend(waits);
                moves.extend(["call", "report"]);
            } else {
                moves.push("answer");
            }
            expected.push(thinks);
            moves.push("deliver");
            assert_eq!(*heard.lock().unwrap(), expected);
            assert_eq!(story(&store, "planner").await.0, moves);
        });
    }
}
