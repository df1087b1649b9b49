//! A model that follows a script, for all agents: it answers the first step of a turn with calls,
//! and then delivers what has come of them.

use std::{process, sync::Arc, time::Duration};

use machine::{
    agent::{
        ActiveTurn, AfterExecution, Agent, AgentCall, AgentId, Agents, CallTarget, CardKind,
        Deliverable, ModelAnswer, TurnEnd, TurnId, Work,
    },
    clock::Millis,
    contract::{ActionRefusal, CallError, Registry},
    store::LoadError,
    worker::{Failure, Task},
};
use serde_json::{Value, json};

use crate::{
    say,
    server::{NEVER, PAGE},
    staff::{CLERK, OTHERS, PLANNER, SCOUT, agent, task},
    tools::NOTES,
};

/// The number of cards that are read from a box.
pub const MANY: usize = 10_000;

/// The time for which the planner waits for the scout.
const PATIENCE: Duration = Duration::from_secs(2);

/// The limit of the scout's turns, in milliseconds. It is longer, so that they are overdue.
const SCOUT_LIMIT: Millis = 3_000;

/// The model, with the tools that it can call.
pub struct Script(pub Arc<Registry>);

/// A call of the script: the name of the tool, the target, and the time that the turn waits.
type Scripted = (&'static str, CallTarget, Option<Duration>);

impl Agent for Script {
    async fn run(&self, agent: &AgentId, turn: &ActiveTurn, task: &Task) -> Result<Work, Failure> {
        let worker = process::id();
        say(format_args!("worker {worker}: {agent} begins step {} of its turn", turn.step));
        if turn.step == 1 {
            return Ok(Work::Call(self.answer(agent, turn.id)));
        }
        let results = results(&Agents::of(task.store()), turn).await?;
        let receipts = || results.iter().map(receipt).collect::<Result<Vec<_>, _>>();
        let delivered = match agent.0.as_str() {
            PLANNER => Ok(report(&results)),
            _ => receipts().map(|all| all.join(", ")),
        };
        Ok(match delivered {
            Ok(text) => Deliverable::Done(text.into()).into(),
            Err(why) => Deliverable::Failed(why.into()).into(),
        })
    }
}

impl Script {
    /// The answer of the model in the first step.
    fn answer(&self, by: &AgentId, turn: TurnId) -> ModelAnswer {
        let calls: Vec<Scripted> = match by.0.as_str() {
            PLANNER => OTHERS.into_iter().map(|name| delegated(name, turn)).collect(),
            SCOUT => vec![
                self.call("web.get", &json!({ "path": PAGE })),
                self.call("web.get", &json!({ "path": NEVER })),
            ],
            CLERK => vec![
                self.call("files.read", &json!({ "path": NOTES })),
                self.call("files.read", &json!({ "path": "lost.txt" })),
            ],
            _ => vec![self.call("shell.count", &json!({ "path": NOTES }))],
        };
        let numbered = |(number, (tool, target, within)): (usize, Scripted)| AgentCall {
            tool: tool.to_owned(),
            call_id: format!("call_{number}"),
            target,
            within,
            after: AfterExecution::Suspend,
        };
        let body = json!({ "text": format!("{by} makes {} calls", calls.len()) });
        let calls = calls.into_iter().enumerate().map(numbered).collect();
        ModelAnswer { body, calls, ..ModelAnswer::default() }
    }

    /// A call of a tool. One that the registry refuses is closed, and the model hears why.
    fn call(&self, tool: &'static str, arguments: &Value) -> Scripted {
        let target = match self.0.call(tool, &arguments.to_string()) {
            Ok(call) => CallTarget::Tool(call),
            Err(refused) => {
                CallTarget::Closed(json!({ "error": { "refused": refused.to_string() } }))
            }
        };
        (tool, target, None)
    }
}

/// A turn of another agent. A call to an agent has a deadline.
fn delegated(name: &'static str, turn: TurnId) -> Scripted {
    let (within, limit) = match name {
        SCOUT => (PATIENCE, Some(SCOUT_LIMIT)),
        _ => (Duration::from_mins(1), None),
    };
    let agent = agent(name);
    let task = task(&agent, turn, limit);
    (name, CallTarget::Agent { agent, task }, Some(within))
}

/// The results of the calls of the turn, in the order of the calls.
async fn results(agents: &Agents, turn: &ActiveTurn) -> Result<Vec<Value>, LoadError> {
    let mut cards = agents.cards(turn.task.output_box, MANY).await?;
    cards.retain(|(card, _)| card.turn == turn.id && card.kind == CardKind::ToolResult);
    cards.sort_by_key(|(card, _)| card.index);
    Ok(cards.into_iter().map(|(_, body)| body).collect())
}

/// What has come of the turns that the planner has delegated.
fn report(results: &[Value]) -> String {
    let ends = OTHERS.into_iter().zip(results).map(|(name, result)| {
        match serde_json::from_value::<TurnEnd>(result["end"].clone()) {
            Ok(end) => format!("{name}: {end}"),
            Err(_) => format!("{name}: no answer in time"),
        }
    });
    ends.collect::<Vec<_>>().join("; ")
}

/// The receipt of a call, or why there is none.
fn receipt(result: &Value) -> Result<String, String> {
    if let Some(receipt) = result["receipt"].as_str() {
        return Ok(receipt.to_owned());
    }
    let error = &result["error"];
    let read = serde_json::from_value::<CallError<ActionRefusal>>(error.clone());
    Err(read.map_or_else(|_| error.to_string(), |error| error.to_string()))
}
