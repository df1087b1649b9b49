//! Complaints about other programs, by project and number: what happened there does not happen
//! here. The others are where their means are: `t01` and `t13` in `processes`, `t03` and `t04` in
//! `orders`, `t09` in `ends`, `t02`, `t06` and `t10` in `sets`.

use machine::{
    agent::{
        ActiveTurn, AfterExecution, Agent, AgentCall, AgentId, Agents, BoxId, CallTarget, CardKind,
        Deliverable, Driver, Limits, ModelAnswer, Phase, TurnEnd, Work,
    },
    contract::{Action, NoReceipt, Registry, ToolAnswer, ToolCall, ToolSpec},
    testing::{TestClock, TestEnvironment},
    worker::{Failure, Task},
};
use serde_json::{Map, Value, json};

use super::{
    queue::{limited, staff, story},
    support::{agent, id, new_turn},
};
use crate::worker::prelude::{Applied, Count, Duration, OpenOptions, settle, worker};

/// Makes the calls of each step. Then it delivers.
pub(super) struct Script(pub(super) Vec<Vec<AgentCall>>);

impl Agent for Script {
    async fn run(&self, _: &AgentId, turn: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        let calls = (1..).zip(&self.0).find(|(step, _)| *step == turn.step);
        let Some((_, calls)) = calls.filter(|_| !turn.must_deliver()) else {
            return Ok(Deliverable::Done(json!({ "step": turn.step })).into());
        };
        Ok(Work::Call(ModelAnswer { calls: calls.clone(), ..ModelAnswer::default() }))
    }
}

/// A tool that can be repeated.
pub(super) fn look() -> ToolSpec {
    ToolSpec::idempotent("office", "look").unwrap()
}

/// A tool that cannot.
pub(super) fn send() -> ToolSpec {
    ToolSpec::irreversible("office", "send").unwrap()
}

/// A call that ends like this, after this time.
pub(super) fn call(index: u64, tool: &ToolSpec, end: &str, seconds: u64) -> AgentCall {
    let arguments = json!({ "index": index, "end": end, "seconds": seconds }).to_string();
    AgentCall {
        tool: tool.name(),
        call_id: format!("call_{index}"),
        target: CallTarget::Tool(ToolCall::new(tool, &arguments).unwrap()),
        within: None,
        after: AfterExecution::Suspend,
    }
}

/// The result of a call that is applied.
pub(super) fn done() -> Value {
    json!({ "receipt": "done" })
}

/// Tools that do what the arguments of the call say.
pub(super) fn tools() -> Registry {
    let mut tools = Registry::new();
    for tool in [look(), send()] {
        let added = tools.add(tool, |call| {
            let arguments = call.arguments.arguments().cloned();
            Box::pin(answer(arguments.unwrap_or_default()))
        });
        added.unwrap();
    }
    tools
}

async fn answer(arguments: Map<String, Value>) -> ToolAnswer<Action> {
    tokio::time::sleep(Duration::from_secs(arguments["seconds"].as_u64().unwrap())).await;
    match arguments["end"].as_str().unwrap() {
        "applied" => Ok(Applied::new("done")),
        "refused" => Err(NoReceipt::not_applied("exit code 1")),
        "unknown" => Err(NoReceipt::unknown("the line went dead")),
        other => panic!("{other}"),
    }
}

/// The results of the calls, by step and index.
pub(super) async fn results(agents: &Agents) -> Vec<Value> {
    let mut results = agents.cards(BoxId(id(1)), 100).await.unwrap();
    results.retain(|(card, _)| card.kind == CardKind::ToolResult);
    results.sort_by_key(|(card, _)| (card.step, card.index));
    results.into_iter().map(|(_, body)| body).collect()
}

/// A turn of the planner, which has these steps and at most a minute.
async fn office(steps: Vec<Vec<AgentCall>>) -> (TestEnvironment, Agents) {
    let office = TestEnvironment::new(move |worker| {
        worker.handler(Driver(Script(steps.clone()))).other_tools(tools())
    });
    let limits = Limits { time_ms: Some(60_000), ..Limits::default() };
    let agents = limited(office.store(), limits).await;
    (office, agents)
}

/// The ends of the turns of the planner.
async fn ends(office: &TestEnvironment) -> Vec<TurnEnd> {
    story(office.store(), "planner").await.1.into_iter().map(|event| event.end).collect()
}

/// Calls that had ended were shown as missing after a resume. Here the worker is lost when they
/// have ended, and none is reported.
#[tokio::test(start_paused = true)]
async fn t05_qwen_code_9573_a_call_that_has_ended_is_not_missing_after_a_resume() {
    let calls: Vec<_> = (0..2).map(|index| call(index, &look(), "applied", 0)).collect();
    let (office, agents) = office(vec![calls.clone()]).await;
    let store = office.store();
    settle(worker(store).handler(Driver(Script(vec![calls])))).await;
    settle(worker(store).other_tools(tools())).await;
    let calls = store.children(agent("planner").head()).await.unwrap();
    assert_eq!(calls.iter().filter(|call| call.has_ended).count(), 2);
    assert!(results(&agents).await.is_empty());

    office.run_until_idle().await;
    assert_eq!(results(&agents).await, [done(), done()]);
    assert_eq!(ends(&office).await, [TurnEnd::Done]);
}

/// A provider numbers the calls of each answer anew, and repeats a number within one: the session
/// had thousands of results, or none.
#[tokio::test(start_paused = true)]
async fn t14_crush_3121_each_call_with_a_repeated_provider_id_has_one_result() {
    let first = || call(0, &look(), "applied", 0);
    let (office, agents) = office(vec![vec![first()], vec![first(), first()]]).await;
    office.run_until_idle().await;

    let results = results(&agents).await;
    assert_eq!(results.len(), 3);
    assert_eq!(results[..2], [done(), done()]);
    let refused = results[2]["error"]["refused"].as_str().unwrap();
    assert!(refused.contains("repeats another one of its step"), "{refused}");
    assert_eq!(ends(&office).await, [TurnEnd::Done]);
}

/// Delivers the number of cards that it has found, half a minute later.
struct Historian {
    agents: Agents,
    runs: Count,
}

impl Agent for Historian {
    async fn run(&self, _: &AgentId, _: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        self.runs.add();
        let before = self.agents.cards(BoxId(id(1)), 100).await?.len();
        tokio::time::sleep(Duration::from_secs(28)).await;
        Ok(Deliverable::Done(json!({ "before": before })).into())
    }
}

/// A task was dispatched twice within 28 seconds, and two turns ran on one snapshot of the session.
#[tokio::test(start_paused = true)]
async fn t16_hermes_agent_64934_two_workers_run_each_task_once_one_after_the_other() {
    let store = OpenOptions::new().clock(TestClock::start()).memory();
    let (agents, runs) = (staff(&store).await, Count::default());
    let running = [0; 2].map(|_| {
        let historian = Historian { agents: agents.clone(), runs: runs.clone() };
        worker(&store).handler(Driver(historian)).start()
    });
    let adds = [0; 2].map(|_| {
        let agents = agents.clone();
        tokio::spawn(async move {
            for number in 1..=3 {
                agents.enqueue(new_turn("planner", number, 1)).await.unwrap();
            }
        })
    });
    for add in adds {
        add.await.unwrap();
    }
    tokio::time::sleep(Duration::from_mins(2)).await;
    for running in running {
        running.stop().await.unwrap();
    }

    assert_eq!(runs.get(), 3);
    let (moves, _) = story(&store, "planner").await;
    assert_eq!(moves, ["dispatch", "claim", "deliver"].repeat(3));
    let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
    let bodies: Vec<_> = cards.into_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies, [0, 1, 2].map(|before| json!({ "before": before })));
}

/// The last callback came, and nothing woke the machine for eleven minutes. Here the worker ends
/// with the result that empties the set.
#[tokio::test(start_paused = true)]
async fn t20_aws_durable_execution_sdk_js_510_the_last_result_leaves_the_turn_ready() {
    let calls: Vec<_> = (0..2).map(|index| call(index, &look(), "applied", 0)).collect();
    let (office, agents) = office(vec![calls]).await;
    while results(&agents).await.len() < 2 {
        assert!(office.step().await, "the calls end");
    }
    let active = agents.head(&agent("planner")).await.unwrap().active.unwrap();
    assert_eq!((active.step, active.phase), (2, Phase::Running { answer: None }));

    // It leaves what waits for a time.
    office.run_until_idle().await;
    assert_eq!(ends(&office).await, [TurnEnd::Done]);
}
