//! Turns in a file that end without the result of their agent. Each has its event, its deliverable
//! and its reason, and the next turn runs.

use machine::{
    agent::{
        self, ActiveTurn, Agent, AgentError, AgentId, Agents, AnyAgentHead, BoxId, Deliverable,
        Driver, Limits, NewTurn, Resource, StopReason, TaskEvent, Terms, TurnEnd, TurnRefusal,
        TurnStatus, TurnStop, Work,
    },
    clock::Millis,
    worker::{Failure, Handled, Handler, Task},
};
use serde_json::{Value, json};

use super::{
    queue::{Clerk, limited, queued, staff, story},
    support::{agent, agent_call, child, id, makes, new_turn, to_helper, turn},
};
use crate::worker::prelude::{
    Count, Duration, Hand, Human, Store, ann, assert_err, notified, on_threads, settle, timed,
    until, worker,
};

const REQUESTED: TurnStop = TurnStop::Stopped(StopReason::Requested);

async fn events(store: &Store) -> Vec<TaskEvent> {
    story(store, "planner").await.1
}

/// The results of the turns that write to box 1.
async fn results(agents: &Agents) -> Vec<Value> {
    let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
    cards.into_iter().map(|(_, body)| body).collect()
}

fn stopped(why: StopReason) -> Value {
    json!({ "stopped": why.to_string() })
}

/// Turn 1 is dispatched, and turn 2 is queued. No worker has claimed them.
#[test]
fn a_turn_that_is_stopped_before_it_runs_is_delivered_without_its_agent() {
    for (number, place, moves) in [
        (1, 0, ["dispatch", "stop", "deliver", "dispatch", "claim", "deliver"]),
        (2, 1, ["dispatch", "claim", "deliver", "dispatch", "claim", "deliver"]),
    ] {
        timed(async |store: Store, _: Hand| {
            let agents = queued(&store, 2).await;
            assert_eq!(agents.stop(turn(number), ann()).await.unwrap(), REQUESTED);
            let clerk = Clerk::default();
            let count = clerk.calls.clone();
            settle(worker(&store).handler(Driver(clerk))).await;

            assert_eq!(count.get(), 1, "of the other turn");
            assert_eq!(story(&store, "planner").await.0, moves);
            let mut ends: Vec<_> = events(&store).await.into_iter().map(|it| it.end).collect();
            assert_eq!(ends.remove(1 - place), TurnEnd::Done);
            assert_eq!(ends, [TurnEnd::Stopped(StopReason::Requested)]);
            assert_eq!(results(&agents).await[place], stopped(StopReason::Requested));
        });
    }
}

/// Also one who comes second. A queued turn has no entry in a journal, and an unknown one no line.
#[test]
fn the_person_who_stops_a_turn_is_named() {
    timed(async |store: Store, _: Hand| {
        let (agents, bob) = (queued(&store, 2).await, Human::new("bob").unwrap());
        assert!(agents.stop(turn(3), ann()).await.is_err(), "it is unknown");
        for number in [2, 1] {
            assert_eq!(agents.stop(turn(number), ann()).await.unwrap(), REQUESTED);
            let (why, by) = (StopReason::Requested, Some("ann".to_owned()));
            let already = TurnStop::AlreadyStopped { why, by };
            assert_eq!(agents.stop(turn(number), &bob).await.unwrap(), already);
        }
        let log = store.operations(9, None).await.unwrap().items;
        let lines: Vec<_> = log.into_iter().map(Result::unwrap).collect();
        let head = agent("planner").head();
        let already = "already stopped by ann: a stop was requested";
        let rows =
            [("bob", 1, already), ("ann", 1, "done"), ("bob", 2, already), ("ann", 2, "done")];
        assert_eq!(lines.len(), rows.len());
        for (line, (by, number, outcome)) in lines.iter().zip(rows) {
            assert_eq!((&*line.by, &*line.operation), (by, "stop"));
            assert_eq!(
                (&line.machines, &line.detail),
                (&vec![head], &format!("turn {}", turn(number)))
            );
            assert_eq!(line.outcome.as_deref(), Some(outcome));
        }
        let entries = store.history(head).await.unwrap().entries;
        let named: Vec<_> = entries.iter().filter_map(|entry| entry.by.as_deref()).collect();
        assert_eq!(named, ["ann"], "of the active turn");
    });
}

#[test]
fn t09_a2a_rs_126_the_stop_of_an_ended_turn_answers_with_its_end() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        let unknown = agents.stop(turn(1), ann()).await;
        assert_err!(unknown, AgentError::Refused(TurnRefusal::UnknownTurn { .. }));
        agents.enqueue(new_turn("planner", 1, 1)).await.unwrap();
        settle(worker(&store).handler(Driver(Clerk::default()))).await;
        let before = agents.turn(turn(1)).await.unwrap();
        let deliverable = events(&store).await[0].deliverable;
        for _ in 0..2 {
            let answer = agents.stop(turn(1), ann()).await.unwrap();
            assert_eq!(answer, TurnStop::Ended { end: TurnEnd::Done, deliverable });
        }
        assert_eq!(agents.turn(turn(1)).await.unwrap(), before);
    });
}

/// It is at work, and would never end.
#[test]
fn an_agent_is_dropped_when_its_turn_is_stopped() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        let (endless, hold) = Clerk::held();
        let calls = endless.calls.clone();
        let running = worker(&store).handler(Driver(endless)).start();
        notified(&hold.0).await;
        assert_eq!(agents.stop(turn(1), ann()).await.unwrap(), REQUESTED);
        until("the turn is delivered", async || !events(&store).await.is_empty()).await;
        running.stop().await.unwrap();

        assert_eq!(calls.get(), 1);
        assert_eq!(story(&store, "planner").await.0, ["dispatch", "claim", "stop", "deliver"]);
        assert_eq!(results(&agents).await, [stopped(StopReason::Requested)]);
    });
}

/// Stops the turn between the reads of its delivery and the write.
struct Late {
    driver: Driver<Clerk>,
    agents: Agents,
}

impl Handler for Late {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        let delivers = matches!(head, AnyAgentHead::Running(_));
        let next = self.driver.handle(head, task).await?;
        if delivers {
            self.agents.stop(turn(1), ann()).await?;
        }
        Ok(next)
    }
}

/// What the agent has returned is not lost.
#[test]
fn a_stop_that_meets_a_delivery_is_its_end() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        let late = Late { driver: Driver(Clerk::default()), agents: agents.clone() };
        settle(worker(&store).handler(late)).await;
        assert_eq!(story(&store, "planner").await.0, ["dispatch", "claim", "stop", "deliver"]);
        assert_eq!(events(&store).await[0].end, TurnEnd::Stopped(StopReason::Requested));
        assert_eq!(results(&agents).await, [json!({ "call": 0 })]);
    });
}

/// The answer of a stop is what becomes of the turn.
#[test]
fn turns_that_are_stopped_at_any_time_end_as_the_stop_said() {
    on_threads(async |store: Store| {
        let agents = staff(&store).await;
        let running = worker(&store).handler(Driver(Clerk::default())).start();
        let stops: Vec<_> = (1..=30)
            .map(|number| {
                let agents = agents.clone();
                tokio::spawn(async move {
                    agents.enqueue(new_turn("planner", number, 1)).await.unwrap();
                    (number, agents.stop(turn(number), ann()).await.unwrap())
                })
            })
            .collect();
        let mut answers = Vec::new();
        for stop in stops {
            answers.push(stop.await.unwrap());
        }
        until("30 turns are delivered", async || events(&store).await.len() == 30).await;
        running.stop().await.unwrap();
        assert_eq!(agents.head(&agent("planner")).await.unwrap().active, None);
        for (number, answer) in answers {
            let record = agents.turn(turn(number)).await.unwrap().unwrap();
            let TurnStatus::Delivered { end, .. } = record.status else { panic!("{record:?}") };
            let expected = match answer {
                TurnStop::Stopped(why) | TurnStop::AlreadyStopped { why, .. } => {
                    TurnEnd::Stopped(why)
                }
                TurnStop::Ended { end, .. } => end,
            };
            assert_eq!(end, expected);
        }
    });
}

const TIME: StopReason = StopReason::Limit(Resource::Time);

/// The clock moves after the turn was dispatched, and before a worker claims it.
#[test]
fn a_limit_ends_a_turn_before_it_runs() {
    let (none, time) = (Limits::default(), |ms| Limits { time_ms: Some(ms), ..Limits::default() });
    let steps = Limits { steps: Some(0), ..none };
    let calls = Limits { calls: Some(0), ..none };
    let claimed = ["dispatch", "claim", "deliver"];
    let overdue = (["dispatch", "limit", "deliver"], TurnEnd::Stopped(TIME));
    let exceeded = StopReason::Limit(Resource::Steps);
    let rows: [(Limits, Millis, _); 6] = [
        (steps, 0, (["dispatch", "stop", "deliver"], TurnEnd::Stopped(exceeded))),
        (calls, 0, (claimed, TurnEnd::Done)),
        (time(5), 4, (claimed, TurnEnd::Done)),
        (time(5), 5, overdue),
        (time(0), 0, overdue),
        (time(Millis::MAX), 5, (claimed, TurnEnd::Done)),
    ];
    for (limits, passes, (moves, end)) in rows {
        timed(async |store: Store, hand: Hand| {
            limited(&store, limits).await;
            hand.advance(passes);
            let clerk = Clerk::default();
            let calls = clerk.calls.clone();
            settle(worker(&store).handler(Driver(clerk))).await;
            assert_eq!(story(&store, "planner").await.0, moves, "{limits:?}");
            assert_eq!(events(&store).await[0].end, end);
            assert_eq!(calls.get(), usize::from(end == TurnEnd::Done));
        });
    }
}

/// It is at work, and would never end.
#[test]
fn an_agent_is_dropped_when_its_time_is_up() {
    timed(async |store: Store, hand: Hand| {
        let limits = Limits { time_ms: Some(500), ..Limits::default() };
        let agents = limited(&store, limits).await;
        agents.enqueue(new_turn("planner", 2, 1)).await.unwrap();
        let (endless, hold) = Clerk::held();
        let running = worker(&store).handler(Driver(endless)).start();
        notified(&hold.0).await;
        hand.advance(500);
        notified(&hold.0).await;
        hold.1.notify_one();
        until("both are delivered", async || events(&store).await.len() == 2).await;
        running.stop().await.unwrap();

        let moves = ["dispatch", "claim", "limit", "deliver", "dispatch", "claim", "deliver"];
        assert_eq!(story(&store, "planner").await.0, moves);
        let ends: Vec<_> = events(&store).await.into_iter().map(|it| it.end).collect();
        assert_eq!(ends, [TurnEnd::Stopped(TIME), TurnEnd::Done]);
        assert_eq!(results(&agents).await, [stopped(TIME), json!({ "call": 1 })]);
    });
}

/// Fails, or panics, and counts its calls.
struct Broken {
    panics: bool,
    calls: Count,
}

impl Agent for Broken {
    async fn run(&self, _: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        self.calls.add();
        assert!(!self.panics, "the agent is confused");
        Err("the agent is confused".into())
    }
}

/// A handler of the program's around that of the library.
struct Around(Driver<Broken>);

impl Handler for Around {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        self.0.handle(head, task).await
    }
}

/// The attempt after the last one is the library's. No person has to help.
#[test]
fn used_up_attempts_end_a_turn() {
    for (panics, attempts) in [(false, 2), (true, 2), (false, 1), (true, 1)] {
        timed(async |store: Store, _: Hand| {
            queued(&store, 2).await;
            let calls = Count::default();
            let broken = Broken { panics, calls: calls.clone() };
            settle(worker(&store).attempts(attempts).handler(Around(Driver(broken)))).await;

            let moves = ["dispatch", "claim", "stop", "deliver"].repeat(2);
            assert_eq!(story(&store, "planner").await.0, moves);
            assert_eq!(calls.get(), [2, 4][usize::from(attempts == 2)], "{attempts} a turn");
            let ends: Vec<_> = events(&store).await.into_iter().map(|it| it.end).collect();
            assert_eq!(ends, [TurnEnd::Stopped(StopReason::Attempts); 2]);
            assert!(store.set_aside().await.unwrap().machines.is_empty());
        });
    }
}

/// Delegates to the helper.
struct Chief;

impl Agent for Chief {
    async fn run(&self, agent: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        if agent.0 == "helper" {
            return Ok(Deliverable::Done(json!("done")).into());
        }
        Ok(makes(vec![agent_call(0, to_helper(), Some(Duration::from_secs(10)))]))
    }
}

/// Whoever knows the id of a turn knows those of the turns that it delegates.
#[test]
fn a_delegated_turn_whose_id_is_taken_does_not_block_the_agent() {
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        let taken = NewTurn { id: child(), ..new_turn("helper", 3, 3) };
        agents.enqueue(taken).await.unwrap();
        agents.enqueue(new_turn("planner", 1, 1)).await.unwrap();
        settle(worker(&store).handler(Driver(Chief))).await;

        let (moves, events) = story(&store, "planner").await;
        assert_eq!(moves, ["dispatch", "claim", "deliver"]);
        assert_eq!(events[0].end, TurnEnd::Failed);
    });
}

/// Another version of the program has written them.
#[test]
fn terms_that_cannot_be_read_end_an_active_turn() {
    let task = new_turn("planner", 1, 1).task;
    let unreadable = Terms { unreadable: true, ..Terms::default() };
    for terms in [Some(json!(7)), Some(json!({ "limits": 7 })), None] {
        let mut body = serde_json::to_value(&task).unwrap();
        let members = body.as_object_mut().unwrap();
        members.remove("terms");
        members.extend(terms.map(|terms| ("terms".to_owned(), terms)));
        let read: agent::Task = serde_json::from_value(body).unwrap();
        assert_eq!(read.terms, unreadable);
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(serde_json::from_value::<agent::Task>(written).unwrap(), read);
    }
    timed(async |store: Store, _: Hand| {
        let agents = staff(&store).await;
        for number in [1, 2] {
            let mut new = new_turn("planner", number, 1);
            new.task.terms = unreadable.clone();
            agents.enqueue(new).await.unwrap();
        }
        settle(worker(&store).handler(Driver(Clerk::default()))).await;
        assert_eq!(story(&store, "planner").await.0, ["dispatch", "stop", "deliver"].repeat(2));
        assert_eq!(results(&agents).await, [0, 1].map(|_| stopped(StopReason::Unreadable)));
    });
}
