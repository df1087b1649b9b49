//! The stream of events.

use std::time::Duration;

use machine::{
    actor::Human,
    agent::{Agents, NewTurn, TurnId},
    contract::{AnyExecution, Contract},
    observe::Observer,
    store::Prune,
    view,
};
use machine_tests::{
    actors::{graph_runner, reasoning_node},
    samples::{mail, read},
};
use serde_json::json;

use crate::{
    cli::turns::{agent, id, task},
    http::sse::{Event, Sse},
    surfaces::{Order, Place},
};

const ALL: &str = "events=execution_state,machine_state,changed";

impl Place {
    /// A stream that the server has accepted.
    async fn stream(&self, query: &str, last: Option<&str>) -> (Sse, Event) {
        let (address, query) = (self.address, query.to_owned());
        let last = last.map(str::to_owned);
        let open = move || {
            let mut stream = Sse::open(address, &query, last.as_deref());
            let first = stream.next().expect("a stream begins with its position");
            assert!(first.is_alive());
            (stream, first)
        };
        tokio::task::spawn_blocking(open).await.unwrap()
    }
}

/// The next events about machines.
async fn take(mut stream: Sse, count: usize) -> (Sse, Vec<Event>) {
    let take = move || {
        let events = (0..count).map(|_| stream.change()).collect();
        (stream, events)
    };
    tokio::task::spawn_blocking(take).await.unwrap()
}

fn statuses(events: &[Event]) -> Vec<(&str, &str)> {
    events
        .iter()
        .map(|it| {
            (it.data["from_status"].as_str().unwrap(), it.data["to_status"].as_str().unwrap())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transition_of_an_execution_has_exactly_these_fields() {
    let place = Place::served().await;
    let (stream, _) = place.stream("", None).await;
    let id = place.sent(mail("bob@example.com")).await;
    let (_, events) = take(stream, 2).await;
    assert_eq!(statuses(&events), [("pending", "running"), ("running", "completed")]);
    assert!(events.iter().all(|event| event.name == "execution_state"));
    let done = &events[1].data;
    let timestamp = done["timestamp"].as_i64().unwrap();
    let expected = json!({
        "execution_id": id, "action_summary": "email.send → bob@example.com",
        "from_status": "running", "to_status": "completed", "trigger": "succeed",
        "actor_category": "tool", "is_terminal": true, "is_resumable": false,
        "has_side_effects": true, "timestamp": timestamp,
    });
    assert_eq!(*done, expected);
    assert_eq!(events[0].data["is_terminal"], false);
    // OB-12: the mark, at every transition.
    assert_eq!(events[0].data["has_side_effects"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_agrees_with_the_snapshot_after_it() {
    let place = Place::served().await;
    let observer = Observer::new(&place.store);
    let mut after = place.store.position().await.unwrap().to_string();
    let mut made = Vec::new();
    made.push(place.question().await);
    made.push(place.gate("gate@example.com").await.0.id());
    made.push(place.doubt("doubt@example.com").await);
    made.push(place.failed("failed@example.com").await);
    made.push(place.sent(mail("sent@example.com")).await);
    made.push(place.sent(read("/etc/hosts")).await);
    for id in made {
        let query = format!("after={after}&id={id}");
        let (stream, _) = place.stream(&query, None).await;
        let snapshot = observer.execution::<view::Human>(id).await.unwrap();
        let count = usize::try_from(snapshot.transition_count).unwrap();
        let (_, events) = take(stream, count).await;
        let last = events.last().unwrap();
        assert_eq!(last.data["is_resumable"], snapshot.is_resumable, "{last:?} {snapshot:?}");
        assert_eq!(last.data["is_terminal"], snapshot.is_terminal, "{last:?}");
        assert_eq!(last.data["has_side_effects"], snapshot.has_side_effects, "{last:?}");
        assert_eq!(last.data["action_summary"], snapshot.action_summary, "{last:?}");
        assert_eq!(last.data["to_status"], snapshot.current_status, "{last:?}");
        "1.0".clone_into(&mut after);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_transitions_are_reported_by_default() {
    let place = Place::served().await;
    let (default, _) = place.stream("", None).await;
    let (all, _) = place.stream(ALL, None).await;
    let pending = place.pending("bob@example.com").await;
    let mut order = Order::new();
    place.store.create(&mut order).await.unwrap();
    let mut order = order.confirm(5, None, &Human::new("ann").unwrap());
    place.store.commit(&mut order).await.unwrap();
    let question = place.question().await;
    let (_, events) = take(default, 2).await;
    assert!(events.iter().all(|it| it.data["execution_id"] == json!(question)), "{events:?}");
    let (_, events) = take(all, 6).await;
    let names: Vec<_> = events.iter().map(|event| &*event.name).collect();
    let expected =
        ["changed", "changed", "machine_state", "changed", "execution_state", "execution_state"];
    assert_eq!(names, expected);
    let timestamp = events[0].data["timestamp"].as_i64().unwrap();
    let expected = json!({ "id": pending, "machine": "execution", "timestamp": timestamp });
    assert_eq!(events[0].data, expected);
    let timestamp = events[2].data["timestamp"].as_i64().unwrap();
    let expected = json!({
        "id": order.id(), "machine": "order", "session": null, "from_status": "asking",
        "to_status": "paying", "trigger": "confirm", "actor_category": "human",
        "is_terminal": false, "is_resumable": true, "timestamp": timestamp,
    });
    assert_eq!(events[2].data, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transition_of_an_agent_has_its_events() {
    let place = Place::served().await;
    let (stream, _) = place.stream("events=machine_state&machine=agent_head", None).await;
    let (agents, agent) = (Agents::of(&place.store), agent("planner"));
    agents.create(&agent).await.unwrap();
    agents.enqueue(NewTurn { id: TurnId(id(4)), agent, task: task(2) }).await.unwrap();

    let (_, events) = take(stream, 1).await;
    let expected = json!([{
        "subject": "evt.agent.planner.state", "position": events[0].id, "agent_id": "planner",
        "timestamp": events[0].data["timestamp"], "agent_turn_id": id(4), "turn_epoch": 1,
        "step_id": 1, "status": "dispatched", "trigger": "dispatch", "stop": null,
        "waiting_tool_count": 0,
    }]);
    assert_eq!(events[0].data["agent_events"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_leave_out_everything_else() {
    let place = Place::served().await;
    let ask = |session: &str| {
        let contract = Contract::ecs_request("Which?", reasoning_node()).unwrap();
        contract.session(session)
    };
    // Its id is stored in another form than it is written in here and below.
    let first = place.question_of(ask("cafe\u{301}")).await;
    let second = place.question_of(ask("two")).await;
    place.order().await;
    let marks = |events: Vec<Event>| events.into_iter().map(|it| it.data).collect::<Vec<_>>();
    for (query, id) in [
        ("after=1.0&session=cafe%CC%81".to_owned(), first),
        (format!("after=1.0&id={second}"), second),
    ] {
        let (stream, _) = place.stream(&query, None).await;
        let (stream, events) = take(stream, 2).await;
        assert!(marks(events).iter().all(|it| it["execution_id"] == json!(id)), "{query}");
        // The next one is of the same machine, too.
        let mut waiting = place.store.load::<AnyExecution>(id).await.unwrap();
        if let AnyExecution::Waiting(execution) = waiting {
            let mut cancelled = execution.cancel("late".to_owned(), graph_runner());
            place.store.commit(&mut cancelled).await.unwrap();
            waiting = cancelled.into();
        }
        let (_, events) = take(stream, 1).await;
        assert_eq!(events[0].data["execution_id"], json!(waiting.id()));
    }
    let (stream, _) = place.stream(&format!("after=1.0&machine=order&{ALL}"), None).await;
    let (_, events) = take(stream, 1).await;
    assert_eq!(events[0].data["machine"], "order");
    for wrong in ["events=", "events=nothing", "id=x", "limit=1", "after=x", "after=1"] {
        place.read(&format!("/api/events?{wrong}")).await.problem(400, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_resumes_after_a_position() {
    let place = Place::served().await;
    for _ in 0..3 {
        place.question().await;
    }
    let (stream, first) = place.stream("after=1.0", None).await;
    assert_eq!(first.id, "1.0");
    let (_, events) = take(stream, 6).await;
    // The header comes first; an empty one is none.
    let (stream, first) = place.stream("after=1.0", Some(&events[3].id)).await;
    assert_eq!(first.id, events[3].id);
    assert_eq!(take(stream, 2).await.1, events[4..]);
    let (stream, _) = place.stream("after=1.0", Some("")).await;
    assert_eq!(take(stream, 6).await.1, events);
    // From now on.
    let (stream, first) = place.stream("", None).await;
    assert_eq!(first.id, place.store.position().await.unwrap().to_string());
    let id = place.question().await;
    assert_eq!(take(stream, 1).await.1[0].data["execution_id"], json!(id));
    for unknown in ["1.999999", "2.1", "0.0", "1.18446744073709551615"] {
        place.read(&format!("/api/events?after={unknown}")).await.problem(410, "");
        let call = crate::surfaces::Call::get("/api/events").header("last-event-id", unknown);
        place.ask(call).await.problem(410, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_with_the_server_and_resume_on_the_next() {
    let mut place = Place::served().await;
    let (stream, _) = place.stream("", None).await;
    let (behind, _) = place.stream("after=1.0", None).await;
    place.question().await;
    let (mut stream, events) = take(stream, 2).await;
    place.restart().await;
    // The server itself has ended it. One that it gives up after its grace is not ended.
    let ended = move || (stream.next(), stream.is_whole());
    assert_eq!(tokio::task::spawn_blocking(ended).await.unwrap(), (None, true));
    drop(behind);
    let id = place.question().await;
    let (stream, _) = place.stream("", Some(&events[1].id)).await;
    let (_, events) = take(stream, 2).await;
    assert_eq!(events[0].data["execution_id"], json!(id));
    assert_eq!(statuses(&events), [("pending", "running"), ("running", "waiting")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_continues_during_a_prune() {
    let place = Place::served().await;
    let (stream, _) = place.stream("", None).await;
    place.sent(mail("bob@example.com")).await;
    let (stream, events) = take(stream, 2).await;
    let prune = Prune::ended_for(Duration::ZERO);
    let ann = Human::new("ann").unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    // The newest machine is kept.
    place.order().await;
    let pruned = place.store.prune(&prune, &ann).await.unwrap();
    assert_eq!(pruned.machines, 1, "{pruned:?}");
    let id = place.question().await;
    assert_eq!(take(stream, 2).await.1[1].data["execution_id"], json!(id));
    // The position of an entry that is gone is still one to continue after.
    let (stream, _) = place.stream("", Some(&events[0].id)).await;
    assert_eq!(take(stream, 2).await.1[1].data["execution_id"], json!(id));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_cannot_be_read_does_not_end_a_stream() {
    let place = Place::served().await;
    let first = place.question().await;
    place.edit("UPDATE journal SET edge = 99 WHERE seq = 2");
    let raw = rusqlite::Connection::open(place.file()).unwrap();
    // An entry that is broken from the beginning, for a stream that keeps up.
    raw.execute_batch(
        "CREATE TRIGGER broken AFTER INSERT ON journal WHEN NEW.seq = 5
         BEGIN UPDATE journal SET edge = 99 WHERE seq = 5; END",
    )
    .unwrap();
    let (behind, _) = place.stream("after=1.0", None).await;
    let (live, _) = place.stream("", None).await;
    let second = place.question().await;
    let suspended = |events: &[Event], ids: &[machine::Id]| {
        let found: Vec<_> = events.iter().map(|event| event.data["execution_id"].clone()).collect();
        let expected: Vec<_> = ids.iter().map(|id| json!(id)).collect();
        assert_eq!(found, expected);
        assert!(events.iter().all(|event| event.data["to_status"] == "waiting"), "{events:?}");
    };
    suspended(&take(behind, 2).await.1, &[first, second]);
    suspended(&take(live, 1).await.1, &[second]);
}
