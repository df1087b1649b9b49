use std::time::Duration;

use machine::{
    Id,
    contract::ToolSpec,
    store::{Delivery, Received, Store},
    view::ConsequenceView,
    worker::{Next, Task},
};

use crate::{
    agent::{Agent, Brief, Reply},
    condition::{
        Case,
        PlanningCondition::{self, Ambiguity, SecurityViolation, SensitiveAction},
    },
    engine::{Decision, Engine},
    plan::Plan,
    work::{TaskCall, Work, history},
    workflow::{
        Workflow,
        workflow::{Event, Planning},
    },
};

impl<A: Agent> Engine<A> {
    /// PLANNING: asks the agent, and looks at its next step before anything is done.
    pub(crate) async fn plan(&self, engine: Workflow<Planning>, task: &mut Task) -> Decision {
        let work = engine.work().clone();
        let calls = work.calls(task).await?;
        // A person changed the task while a call was under way: its outcome is a part of the
        // history.
        if calls.iter().any(|call| call.outcome.is_none()) {
            return Ok(Next::Wait);
        }
        let view = |call: &TaskCall| ConsequenceView::of(&call.execution).to_string();
        let brief = Brief {
            goal: engine.goal().clone(),
            instructions: engine.instructions().clone(),
            history: calls.iter().map(view).collect(),
            done: work.done.clone(),
            tools: self.tools.tools().map(ToolSpec::name).collect(),
        };
        let reply = tokio::select! {
            reply = self.agent.plan(&brief) => reply?,
            // The worker makes the pause; what the agent would have said does not count.
            () = asked_to_pause(task.store().clone(), task.id()) => return Ok(Next::Wait),
        };
        let actors = task.actors();
        let runner = &actors.graph_runner;
        let why = match reply {
            Reply::Can(plan) if plan.steps.is_empty() => {
                "the plan of the agent has no step".to_owned()
            }
            Reply::Can(plan) => {
                let (found, proposed_action) = (self.found_in(&plan), plan.proposal());
                let is_seen = found.as_ref().is_some_and(|(condition, _)| *condition != Ambiguity);
                let work = self.prepare(Work { plan, ..work }, &calls, is_seen);
                return Ok(match found {
                    Some((condition, explanation)) => {
                        let history = history(&calls);
                        let case = Case { condition, explanation, proposed_action, history };
                        Next::to(case.ask(engine, work, runner)?)
                    }
                    None => Next::to(engine.plan_ready(work, &actors.reasoning_node)),
                });
            }
            Reply::Cannot(why) => why,
        };
        Ok(Next::to(engine.planning_failed(why, runner)))
    }

    /// The condition that a person has to know of before the first step of this plan, and why.
    fn found_in(&self, plan: &Plan) -> Option<(PlanningCondition, String)> {
        let call = &plan.steps.first()?.call;
        if let Some(why) = (self.policy.violation)(call) {
            return Some((SecurityViolation, why));
        }
        if let Some((first, second)) = plan.conflict() {
            let why = format!("`{}` contradicts `{}`", first.call, second.call);
            return Some((Ambiguity, why));
        }
        Some((SensitiveAction, (self.policy.concern)(call)?))
    }
}

/// The interval for checking for a pause while the agent thinks.
const LOOK: Duration = Duration::from_millis(200);

/// Completes when a person asks for a pause, so that they need not wait for a slow agent.
async fn asked_to_pause(store: Store, engine: Id) {
    loop {
        tokio::time::sleep(LOOK).await;
        // A store that cannot be read now fails the handler at its next step.
        let messages = store.inbox(engine).await.unwrap_or_default();
        let asks = |message: &Received| {
            message.status == Delivery::Queued
                && serde_json::from_str::<Event>(&message.body)
                    .is_ok_and(|event| matches!(event, Event::RequestIntervention { .. }))
        };
        if messages.iter().flatten().any(asks) {
            return;
        }
    }
}
