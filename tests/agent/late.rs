//! Calls that outlast their limit (TN-9): a result that comes late is left for an equal call, also
//! if it comes before those of other calls of its set; and a turn that is still queued is stopped
//! with the turn that has delegated it.

use machine::{
    agent::{
        ActiveTurn, Agent, AgentId, Agents, AnyAgentHead, BoxId, CallTarget, CardKind, Deliverable,
        Driver, MemberId, Resource, StopReason, TurnEnd, TurnStatus, Work,
    },
    clock::{Clock, Millis},
    contract::{Registry, ToolCall, ToolSpec},
    store::OpenOptions,
    worker::{Failure, Handled, Handler, Task},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{
    queue::{passes, queued, staff, story},
    sets::{Caller, waiting},
    support::{agent, agent_call, child, id, makes, new_turn, to_helper, turn},
};
use crate::worker::prelude::{
    Applied, Arc, Count, Delivery, Duration, Hand, Store, Worker, settle, timed, until, worker,
};

/// The time that a turn waits for the mail.
const LIMIT: Duration = Duration::from_secs(10);

const NAMES: [&str; 2] = ["mail", "fax"];

/// Sends a mail and a fax in the first step, and the same mail in the second.
struct Sender;

impl Agent for Sender {
    async fn run(&self, agent: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        let calls = match active.step {
            _ if agent.0 == "helper" => return Ok(Deliverable::Done(json!("idle")).into()),
            1 => vec![agent_call(0, tool("mail"), Some(LIMIT)), agent_call(1, tool("fax"), None)],
            2 => vec![agent_call(0, tool("mail"), None)],
            _ => return Ok(Deliverable::Done(json!("sent")).into()),
        };
        Ok(makes(calls))
    }
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec::irreversible("office", name).unwrap()
}

fn tool(name: &str) -> CallTarget {
    CallTarget::Tool(ToolCall::new(&spec(name), "{}").unwrap())
}

/// Sends the same mail in each turn. The first one also asks something, or works until the second
/// gate opens.
struct Twice(Option<Arc<[Semaphore; 2]>>);

impl Agent for Twice {
    async fn run(&self, agent: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        let target = match active.step {
            1 if agent.0 == "planner" => tool("mail"),
            2 if active.id == turn(1) => match &self.0 {
                None => CallTarget::Outside,
                Some(gates) => {
                    gates[1].acquire().await?.forget();
                    return Ok(Deliverable::Done(json!("worked")).into());
                }
            },
            _ => return Ok(Deliverable::Done(json!("sent")).into()),
        };
        let within = (active.step == 1).then_some(LIMIT);
        Ok(makes(vec![agent_call(0, target, within)]))
    }
}

/// Each tool answers when it is released.
fn with_tools(
    handler: impl Handler<Machine = AnyAgentHead>,
    store: &Store,
    gates: &Arc<[Semaphore; 2]>,
    begun: &Count,
) -> Worker {
    let mut registry = Registry::new();
    for (place, name) in NAMES.into_iter().enumerate() {
        let (gates, begun) = (Arc::clone(gates), begun.clone());
        let added = registry.add(spec(name), move |_| {
            let (gates, begun) = (Arc::clone(&gates), begun.clone());
            Box::pin(async move {
                begun.add();
                gates[place].acquire().await.unwrap().forget();
                Ok(Applied::new(name))
            })
        });
        added.unwrap();
    }
    worker(store).handler(handler).other_tools(Arc::new(registry))
}

/// The numbers of the calls that were answered, with their results.
async fn results(agents: &Agents) -> Vec<(u32, u32, Value)> {
    let mut cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
    cards.retain(|(card, _)| card.kind == CardKind::ToolResult);
    cards.into_iter().map(|(card, body)| (card.step, card.index, body)).collect()
}

async fn ended(store: &Store) -> usize {
    let calls = store.children(agent("planner").head()).await.unwrap();
    calls.iter().filter(|call| call.has_ended).count()
}

#[test]
fn a_late_result_is_that_of_an_equal_call() {
    timed(async |store: Store, hand: Hand| {
        let agents = queued(&store, 1).await;
        let (gates, begun) = (Arc::new([0; 2].map(Semaphore::new)), Count::default());
        let running = with_tools(Driver(Sender), &store, &gates, &begun).start();
        until("both calls have begun", async || begun.get() == 2).await;
        passes(LIMIT, &hand, &agents, 2).await;
        until("the mail is overdue", async || results(&agents).await.len() == 1).await;
        for (place, calls) in [(0, 1), (1, 2)] {
            gates[place].add_permits(1);
            until("the call has ended", async || ended(&store).await == calls).await;
        }
        let is_delivered = async || agents.head(&agent("planner")).await.unwrap().active.is_none();
        until("the turn is delivered", is_delivered).await;
        running.stop().await.unwrap();

        assert_eq!(begun.get(), 2, "the mail is sent once");
        let found = results(&agents).await;
        let overdue = &found[0];
        assert_eq!((overdue.0, overdue.1), (1, 0));
        assert!(overdue.2["error"]["overdue"].is_object(), "{found:?}");
        let receipts = [(1, 1, "fax"), (2, 0, "mail")];
        let expected = receipts.map(|(step, at, text)| (step, at, json!({ "receipt": text })));
        assert_eq!(found[1..], expected);
        let inbox = store.inbox(agent("planner").head()).await.unwrap();
        for message in inbox {
            assert_eq!(message.unwrap().status, Delivery::Handled);
        }
        let (moves, _) = story(&store, "planner").await;
        let expected =
            ["dispatch", "claim", "call", "report", "report", "call", "report", "deliver"];
        assert_eq!(moves, expected);
    });
}

/// The next turn begins after its end, whether or not this turn waits for something then.
#[test]
fn a_late_result_is_not_that_of_an_equal_call_of_the_next_turn() {
    for works in [false, true] {
        timed(async |store: Store, hand: Hand| {
            let agents = queued(&store, 2).await;
            let (gates, begun) = (Arc::new([0; 2].map(Semaphore::new)), Count::default());
            let twice = Twice(works.then(|| Arc::clone(&gates)));
            let running = with_tools(Driver(twice), &store, &gates, &begun).start();
            until("the mail has begun", async || begun.get() == 1).await;
            passes(LIMIT, &hand, &agents, 3).await;
            let step = async || waiting(&agents).await.is_some_and(|open| works == (open == 0));
            let asks = async || results(&agents).await.len() == 1 && step().await;
            until("the mail is overdue", asks).await;
            gates[0].add_permits(1);
            until("the mail is sent", async || ended(&store).await == 1).await;
            if works {
                gates[1].add_permits(1);
            } else {
                let call = MemberId { turn: turn(1), step: 2, index: 0 };
                agents.answer(call, json!("yes")).await.unwrap();
            }
            let is_over = async || story(&store, "planner").await.1.len() == 2;
            until("both turns are delivered", is_over).await;
            running.stop().await.unwrap();

            assert_eq!(begun.get(), 1, "the mail is sent once");
            let found = results(&agents).await;
            assert!(works || found[1] == (2, 0, json!({ "answer": "yes" })), "{found:?}");
            let last = &found.last().unwrap().2;
            assert!(last["error"]["already_done"].is_object(), "{found:?}");
        });
    }
}

/// Waits, before its turn reads a result, until both calls have ended.
struct Busy<A>(Driver<A>);

impl<A: Agent> Handler for Busy<A> {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        if matches!(head, AnyAgentHead::Suspended(_)) {
            let store = task.store().clone();
            while ended(&store).await < 2 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        self.0.handle(head, task).await
    }
}

/// Also of a call that ends after the worker has read the inbox.
#[test]
fn a_result_that_was_reported_is_not_that_of_an_equal_call() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        let (gates, begun) = (Arc::new([1; 2].map(Semaphore::new)), Count::default());
        settle(with_tools(Busy(Driver(Sender)), &store, &gates, &begun)).await;
        assert_eq!(begun.get(), 2, "the mail is sent once");
        let found = results(&agents).await;
        assert!(found[2].2["error"]["already_done"].is_object(), "{found:?}");
    });
}

/// The helper is busy with turn 9, so the delegated turn is queued until the end.
#[test]
fn a_queued_turn_that_was_reported_overdue_is_stopped_with_its_parent() {
    timed(async |store: Store, hand: Hand| {
        let agents = staff(&store).await;
        agents.enqueue(new_turn("helper", 9, 9)).await.unwrap();
        let mut new = new_turn("planner", 1, 1);
        new.task.terms.limits.time_ms = Some(LIMIT.as_millis().try_into().unwrap());
        agents.enqueue(new).await.unwrap();
        let made = vec![
            agent_call(0, to_helper(), Some(LIMIT / 2)),
            agent_call(1, CallTarget::Outside, None),
        ];
        let running = worker(&store).handler(Driver(Caller(made))).grace(Duration::ZERO).start();
        until("the turn waits", async || waiting(&agents).await == Some(2)).await;
        let queued = async || agents.turn(child()).await.unwrap().unwrap();
        for (number, left) in [(3, Some(1)), (4, None)] {
            assert_eq!(queued().await.stop, None, "before turn {number}");
            passes(LIMIT / 2, &hand, &agents, number).await;
            until("the time has passed", async || waiting(&agents).await == left).await;
        }
        running.stop().await.unwrap();

        let queued = queued().await;
        assert_eq!((queued.status, queued.stop), (TurnStatus::Queued, Some(StopReason::Parent)));
        let (moves, events) = story(&store, "planner").await;
        assert_eq!(moves, ["dispatch", "claim", "call", "report", "limit", "deliver"]);
        assert_eq!(events[0].end, TurnEnd::Stopped(StopReason::Limit(Resource::Time)));
        let overdue = json!({ "error": { "overdue": { "turn": child() } } });
        assert!(results(&agents).await.contains(&(1, 0, overdue)));
    });
}

/// A clock that goes on by a millisecond whenever it is read.
#[derive(Debug)]
struct Ticking(Hand);

impl Clock for Ticking {
    fn now(&self) -> Millis {
        self.0.advance(1);
        self.0.now()
    }
}

/// Delegates a turn for which it does not wait, and submits its result so long before its time is
/// up.
struct Hasty(Hand, Millis);

impl Agent for Hasty {
    async fn run(&self, agent: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        if agent.0 == "helper" {
            std::future::pending::<()>().await;
        }
        let target = if active.step == 1 {
            to_helper()
        } else {
            let limit = active.task.terms.limits.time_ms.unwrap();
            self.0.set(active.dispatched_at + limit - self.1);
            CallTarget::Submit(json!({}))
        };
        Ok(makes(vec![agent_call(0, target, Some(Duration::ZERO))]))
    }
}

/// The answer that submits the result is also what its time limit stops.
#[tokio::test]
async fn a_result_that_comes_as_the_time_is_up_stops_what_was_delegated() {
    for left in 0..6 {
        let hand = Hand::default();
        let store = OpenOptions::new().clock(Ticking(hand.clone())).memory();
        let agents = staff(&store).await;
        agents.enqueue(new_turn("helper", 9, 9)).await.unwrap();
        let mut new = new_turn("planner", 1, 1);
        new.task.terms.limits.time_ms = Some(3_600_000);
        agents.enqueue(new).await.unwrap();
        let hasty = worker(&store).handler(Driver(Hasty(hand, left))).grace(Duration::ZERO);
        let running = hasty.start();
        let is_delivered = async || agents.head(&agent("planner")).await.unwrap().active.is_none();
        until("the turn is delivered", is_delivered).await;
        running.stop().await.unwrap();

        let (_, events) = story(&store, "planner").await;
        let is_stopped = events[0].end == TurnEnd::Stopped(StopReason::Limit(Resource::Time));
        let queued = agents.turn(child()).await.unwrap().unwrap();
        let expected = is_stopped.then_some(StopReason::Parent);
        assert_eq!((queued.status, queued.stop), (TurnStatus::Queued, expected), "{left} ms");
    }
}
