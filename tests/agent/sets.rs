//! The calls of a step in a file (TN-6, TN-7, TN-9): made in one batch with their set, and reported
//! one by one as they end.

use machine::{
    agent::{
        ActiveTurn, Agent, AgentCall, AgentId, Agents, AnyAgentHead, BoxId, CallTarget, Card,
        CardKind, Deliverable, Driver, Limits, MemberId, ModelAnswer, Resource, SUBMIT_RESULT,
        StopReason, TurnEnd, TurnStatus, Work,
    },
    contract::{ActionRefusal, Effect, OrRefused, Registry, ToolCall, ToolSpec},
    worker::{Failure, Handled, Handler, Task},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{
    queue::{limited, passes, queued, story},
    scenarios::results,
    support::{agent, agent_call, child, id, new_turn, to_helper, turn},
};
use crate::worker::prelude::{
    Applied, Arc, Count, Delivery, Duration, Hand, Next, Store, Worker, ann, inbox, settle, timed,
    until, worker,
};

/// The time that a turn waits for a call.
const LIMIT: Duration = Duration::from_secs(10);

/// Makes these calls in the first step of the planner. Otherwise it delivers, but never turn 9.
pub(super) struct Caller(pub(super) Vec<AgentCall>);

impl Agent for Caller {
    async fn run(&self, agent: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        if active.id == turn(9) {
            std::future::pending::<()>().await;
        }
        if agent.0 != "planner" || active.step > 1 || active.must_deliver() {
            return Ok(Deliverable::Done(json!({ "step": active.step })).into());
        }
        let (body, calls) = (json!({ "text": "I shall look" }), self.0.clone());
        Ok(Work::Call(ModelAnswer { body, calls, tokens: 7, cost: 1 }))
    }
}

/// Three tools that answer once for each time that they are released, one that refuses, and one
/// that ends the turn. The third one is irreversible.
pub(super) struct Tools {
    registry: Arc<Registry>,
    gates: Arc<[Semaphore; 3]>,
    begun: Count,
}

const GATED: [&str; 3] = ["first", "second", "third"];

impl Tools {
    fn new() -> Self {
        let gates = Arc::new([0; 3].map(Semaphore::new));
        let (mut registry, begun) = (Registry::new(), Count::default());
        for (place, name) in GATED.into_iter().enumerate() {
            let (gates, begun) = (Arc::clone(&gates), begun.clone());
            let answers = registry.add(spec(name), move |_| {
                let (gates, begun) = (Arc::clone(&gates), begun.clone());
                Box::pin(async move {
                    begun.add();
                    gates[place].acquire().await.unwrap().forget();
                    Ok(Applied::new(name))
                })
            });
            answers.unwrap();
        }
        let refuses = registry.add(spec("refusing"), |_| {
            let refused: Result<Applied, _> = Err(ActionRefusal::new("exit code 1"));
            Box::pin(async move { refused.or_refused() })
        });
        refuses.unwrap();
        let ends = registry.add(spec("last"), |_| {
            let receipt = json!({ "__cg_control": { "after_execution": "terminate" } });
            Box::pin(async move { Ok(Applied::new(receipt.to_string())) })
        });
        ends.unwrap();
        Self { registry: Arc::new(registry), gates, begun }
    }

    /// Tools that answer at once.
    pub(super) fn open() -> Self {
        let tools = Self::new();
        for place in 0..GATED.len() {
            tools.release(place);
        }
        tools
    }

    fn release(&self, place: usize) {
        self.gates[place].add_permits(1);
    }

    pub(super) fn worker(&self, store: &Store, calls: Vec<AgentCall>) -> Worker {
        let worker = worker(store).handler(Driver(Caller(calls)));
        worker.other_tools(Arc::clone(&self.registry))
    }

    /// A worker that reports no result.
    pub(super) fn deaf(&self, store: &Store, calls: Vec<AgentCall>) -> Worker {
        let worker = worker(store).handler(Deaf(Driver(Caller(calls))));
        worker.other_tools(Arc::clone(&self.registry))
    }
}

fn spec(name: &str) -> ToolSpec {
    let spec = ToolSpec::idempotent("files", name).unwrap();
    if name == "third" { spec.raise(Effect::Irreversible) } else { spec }
}

fn call(number: u64, target: CallTarget) -> AgentCall {
    agent_call(number, target, Some(LIMIT))
}

fn tool(name: &str) -> CallTarget {
    CallTarget::Tool(ToolCall::new(&spec(name), "{}").unwrap())
}

/// Calls of these tools.
pub(super) fn calls<const N: usize>(names: [&str; N]) -> Vec<AgentCall> {
    (0..).zip(names).map(|(number, name)| call(number, tool(name))).collect()
}

/// The number of calls that the planner waits for; `None` if it has no turn.
pub(super) async fn waiting(agents: &Agents) -> Option<usize> {
    let head = agents.head(&agent("planner")).await.unwrap();
    head.active.map(|active| active.waiting.len())
}

async fn cards(agents: &Agents) -> Vec<(Card, Value)> {
    agents.cards(BoxId(id(1)), 100).await.unwrap()
}

/// The calls of the head have all ended.
async fn have_ended(store: &Store) -> bool {
    let calls = store.children(agent("planner").head()).await.unwrap();
    calls.iter().all(|call| call.has_ended)
}

/// One is refused, one is overdue, one takes effect, and one is a turn of another agent.
#[test]
fn calls_of_all_kinds_end_apart() {
    timed(async |store: Store, hand: Hand| {
        let agents = queued(&store, 1).await;
        let tools = Tools::new();
        tools.release(2);
        let mut made = calls(["refusing", "first", "third"]);
        made.push(call(3, to_helper()));
        let running = tools.worker(&store, made).start();
        until("one is left", async || waiting(&agents).await == Some(1)).await;
        passes(LIMIT, &hand, &agents, 3).await;
        until("the turn is delivered", async || waiting(&agents).await.is_none()).await;
        tools.release(0);
        until("the calls have ended", async || have_ended(&store).await).await;
        running.stop().await.unwrap();

        let (moves, events) = story(&store, "planner").await;
        let reports = ["report"; 4];
        let expected = ["dispatch", "claim", "call"].into_iter().chain(reports).chain(["deliver"]);
        assert_eq!(moves, expected.collect::<Vec<_>>());
        assert_eq!(events[0].end, TurnEnd::Done);
        let (_, events) = story(&store, "helper").await;
        let call = MemberId { turn: turn(1), step: 1, index: 3 };
        assert_eq!((events[0].turn, events[0].parent), (call.delegated(), Some(call)));
        let results = results(&agents).await;
        assert!(results[0]["error"]["refused"].to_string().contains("exit code 1"), "{results:?}");
        assert!(results[1]["error"]["overdue"]["execution"].is_string(), "{results:?}");
        assert_eq!(results[2], json!({ "receipt": "third" }));
        assert_eq!(results[3], json!({ "end": "done", "deliverable": events[0].deliverable }));
    });
}

/// The deadline ends the wait, not the work. The late result changes nothing.
#[test]
fn t10_openclaw_118880_a_late_result_is_kept_and_acknowledged() {
    for (place, name) in [(0, "first"), (2, "third")] {
        timed(async |store: Store, hand: Hand| {
            let agents = queued(&store, 1).await;
            let tools = Tools::new();
            let running = tools.worker(&store, calls([name])).start();
            until("the call has begun", async || tools.begun.get() == 1).await;
            until("the turn waits", async || waiting(&agents).await == Some(1)).await;
            passes(LIMIT, &hand, &agents, 2).await;
            until("the turn is delivered", async || waiting(&agents).await.is_none()).await;
            let before = cards(&agents).await;
            assert!(!have_ended(&store).await);

            tools.release(place);
            until("the call has ended", async || have_ended(&store).await).await;
            let is_handled = async || {
                let inbox = store.inbox(agent("planner").head()).await.unwrap();
                inbox.into_iter().all(|message| message.unwrap().status == Delivery::Handled)
            };
            until("its outcome is acknowledged", is_handled).await;
            running.stop().await.unwrap();
            let moves = ["dispatch", "claim", "call", "report", "deliver"];
            assert_eq!(story(&store, "planner").await.0, moves);
            assert_eq!(cards(&agents).await, before);
            assert!(results(&agents).await[0]["error"]["overdue"].is_object());
        });
    }
}

/// The call runs on, and the turn that it has delegated does not begin. A deadline writes no record
/// of that turn, so the delivery stops it.
#[test]
fn a_turn_is_stopped_while_it_waits() {
    let time = LIMIT / 2;
    for why in [StopReason::Requested, StopReason::Limit(Resource::Time)] {
        timed(async |store: Store, hand: Hand| {
            let time_ms = Some(time.as_millis().try_into().unwrap());
            let agents = limited(&store, Limits { time_ms, ..Limits::default() }).await;
            agents.enqueue(new_turn("helper", 9, 9)).await.unwrap();
            let tools = Tools::new();
            let made = vec![call(0, to_helper()), call(1, tool("first"))];
            let running = tools.worker(&store, made).grace(Duration::ZERO).start();
            until("the call has begun", async || tools.begun.get() == 1).await;
            until("the turn waits", async || waiting(&agents).await == Some(2)).await;
            let queued = async || agents.turn(child()).await.unwrap().unwrap();
            let trigger = if why == StopReason::Requested {
                agents.stop(turn(1), ann()).await.unwrap();
                assert_eq!(queued().await.stop, Some(StopReason::Parent), "before the delivery");
                "stop"
            } else {
                passes(time, &hand, &agents, 3).await;
                "limit"
            };
            until("the turn is delivered", async || waiting(&agents).await.is_none()).await;
            tools.release(0);
            running.stop().await.unwrap();

            let queued = queued().await;
            assert_eq!(
                (queued.status, queued.stop),
                (TurnStatus::Queued, Some(StopReason::Parent))
            );
            let (moves, events) = story(&store, "planner").await;
            assert_eq!(moves, ["dispatch", "claim", "call", trigger, "deliver"]);
            assert_eq!(events[0].end, TurnEnd::Stopped(why));
            let interrupted = json!({ "error": { "interrupted": why.to_string() } });
            assert_eq!(results(&agents).await, [interrupted.clone(), interrupted]);
        });
    }
}

/// Reports no result.
struct Deaf(Driver<Caller>);

impl Handler for Deaf {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        if matches!(head, AnyAgentHead::Suspended(_)) {
            return Ok(Next::Wait);
        }
        self.0.handle(head, task).await
    }
}

/// Only the call that has none is interrupted.
#[test]
fn t02_pi_7053_a_stopped_turn_is_delivered_with_the_results_that_are_there() {
    for (why, end) in
        [(StopReason::Requested, "stop"), (StopReason::Limit(Resource::Time), "limit")]
    {
        timed(async |store: Store, hand: Hand| {
            let limits = Limits { time_ms: Some(60_000), ..Limits::default() };
            let agents = limited(&store, limits).await;
            let mut made = calls(["first", "refusing", "third"]);
            let others = [to_helper(), CallTarget::Outside, CallTarget::Outside];
            made.extend((3..).zip(others).map(|(number, target)| call(number, target)));
            let tools = Tools::open();
            settle(tools.deaf(&store, made.clone())).await;
            let answered = MemberId { turn: turn(1), step: 1, index: 4 };
            agents.answer(answered, json!("yes")).await.unwrap();
            assert!(have_ended(&store).await);
            assert_eq!(waiting(&agents).await, Some(6));
            if why == StopReason::Requested {
                agents.stop(turn(1), ann()).await.unwrap();
            } else {
                hand.pass(Duration::from_mins(1));
            }
            settle(tools.deaf(&store, made)).await;

            let (moves, events) = story(&store, "planner").await;
            assert_eq!(moves, ["dispatch", "claim", "call", end, "deliver"]);
            assert_eq!(events[0].end, TurnEnd::Stopped(why));
            let (_, events) = story(&store, "helper").await;
            let mut results = results(&agents).await;
            let refused = results.remove(1);
            assert!(refused["error"]["refused"].to_string().contains("exit code 1"), "{refused}");
            let expected = [
                json!({ "receipt": "first" }),
                json!({ "receipt": "third" }),
                json!({ "end": "done", "deliverable": events[0].deliverable }),
                json!({ "answer": "yes" }),
                json!({ "error": { "interrupted": why.to_string() } }),
            ];
            assert_eq!(results, expected);
            let messages = inbox(&store, agent("planner").head()).await;
            assert!(messages.iter().all(|it| it.status == Delivery::Handled), "{messages:?}");
        });
    }
}

/// The answer and each of its calls have a card, also if they are not made.
#[test]
fn a_limit_of_steps_calls_or_tokens_ends_a_turn() {
    let none = Limits::default();
    let before: &[&str] = &["dispatch", "claim", "stop", "deliver"];
    let after: &[&str] = &["dispatch", "claim", "call", "report", "report", "deliver"];
    for (limits, resource, moves) in [
        (Limits { calls: Some(1), ..none }, Resource::Calls, before),
        (Limits { tokens: Some(6), ..none }, Resource::Tokens, before),
        (Limits { cost: Some(0), ..none }, Resource::Cost, before),
        (Limits { steps: Some(1), ..none }, Resource::Steps, after),
    ] {
        timed(async |store: Store, _: Hand| {
            let agents = limited(&store, limits).await;
            settle(Tools::open().worker(&store, calls(["first", "second"]))).await;
            let (found, events) = story(&store, "planner").await;
            assert_eq!(found, moves, "{resource}");
            let why = StopReason::Limit(resource);
            assert_eq!(events[0].end, TurnEnd::Stopped(why));
            let not_made = json!({ "error": { "not_made": why.to_string() } });
            let receipts = ["first", "second"].map(|name| json!({ "receipt": name }));
            let expected = if moves == before { [not_made.clone(), not_made] } else { receipts };
            assert_eq!(results(&agents).await, expected);
            assert_eq!(cards(&agents).await[0].0.kind, CardKind::Answer);
        });
    }
}

/// The model hears why, and the other calls are made.
#[test]
fn t06_openai_agents_python_3004_a_call_that_is_refused_or_denied_is_closed() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        let mut made = calls(["first", "second", "third"]);
        made[1].call_id = "call_0".to_owned();
        made[2].tool = SUBMIT_RESULT.to_owned();
        let CallTarget::Agent { task, .. } = to_helper() else { unreachable!() };
        let mut early = task.clone();
        early.context_cards = 1;
        let to = |name: &str, task: &machine::agent::Task| CallTarget::Agent {
            agent: agent(name),
            task: task.clone(),
        };
        made.push(call(3, to("nobody", &task)));
        made.push(call(4, to("planner", &task)));
        made.push(AgentCall { within: None, ..call(5, to("helper", &task)) });
        made.push(call(6, to("helper", &early)));
        made.push(call(7, CallTarget::Closed(json!("a".repeat(1 << 20)))));
        made.push(call(8, CallTarget::Closed(json!("denied"))));
        settle(Tools::open().worker(&store, made)).await;

        let moves = story(&store, "planner").await.0;
        assert_eq!(moves, ["dispatch", "claim", "call", "report", "deliver"]);
        let results = results(&agents).await;
        assert_eq!((&results[0], &results[8]), (&json!({ "receipt": "first" }), &json!("denied")));
        assert!(results[7]["answer"].as_str().unwrap().contains("1048578 bytes, more than"));
        let why = ["repeats", "submit_result", "no agent", "own agent", "deadline", "fewer than"];
        for (result, why) in results[1..7].iter().zip(why) {
            assert!(result["error"]["refused"].as_str().unwrap().contains(why), "{result}");
        }
    });
}

/// The turn is delivered in the step of a call that was the last.
#[test]
fn a_result_can_be_the_last() {
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        settle(Tools::open().worker(&store, calls(["last"]))).await;
        let moves = ["dispatch", "claim", "call", "report", "deliver"];
        assert_eq!(story(&store, "planner").await.0, moves);
        let last = cards(&agents).await.pop().unwrap();
        assert_eq!(last.1, json!({ "step": 1 }));
    });
}
