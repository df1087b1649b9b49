use std::time::Duration;

use machine::{
    Id,
    store::{Delivery, Received, Store},
    worker::{Failure, Next, Task},
};

use crate::{
    agent::{Agent, Brief, Reply},
    calls::Calls,
    condition::{Found, Pause, PlanningCondition},
    engine::Driver,
    plan::Plan,
    workflow::{
        AnyWorkflow, Workflow,
        workflow::{Event, Planning},
    },
};

impl<A: Agent> Driver<A> {
    /// PLANNING: asks the agent, and looks at its next step before anything is done.
    pub(crate) async fn plan(
        &self,
        engine: Workflow<Planning>,
        task: &mut Task,
    ) -> Result<Next<AnyWorkflow>, Failure> {
        let state = engine.state();
        let calls = Calls::read(task.store(), &state.work.session()).await?;
        // A person changed the task while a call was under way: its outcome is a part of the history.
        if calls.are_open() {
            return Ok(Next::Wait);
        }
        let brief = Brief {
            goal: state.goal.clone(),
            instructions: state.instructions.clone(),
            history: calls.prompt(),
            done: calls.done(),
            tools: self.tools.names(),
        };
        let reply = tokio::select! {
            reply = self.agent.plan(&brief) => reply?,
            // The worker makes the pause; what the agent would have said does not count.
            () = asked_to_pause(task.store().clone(), task.id()) => return Ok(Next::Wait),
        };
        let actors = task.actors();
        let plan = match reply {
            Reply::Can(plan) if plan.steps.is_empty() => {
                let why = "the plan of the agent has no step".to_owned();
                return Ok(Next::to(engine.planning_failed(why, &actors.graph_runner)));
            }
            Reply::Can(plan) => plan,
            Reply::Cannot(why) => {
                return Ok(Next::to(engine.planning_failed(why, &actors.graph_runner)));
            }
        };
        Ok(match self.found_in(&plan) {
            Some(found) => {
                Next::to(engine.pause(found, plan, calls.history(), &actors.graph_runner)?)
            }
            None => Next::to(engine.plan_ready(plan, &actors.reasoning_node)),
        })
    }

    /// The condition that a person has to know of before the first step of this plan.
    fn found_in(&self, plan: &Plan) -> Option<Found<PlanningCondition>> {
        let call = &plan.steps.first()?.call;
        let cleared = Some(call.clone());
        if let Some(explanation) = self.tools.violation(call) {
            let condition = PlanningCondition::SecurityViolation;
            return Some(Found { condition, explanation, cleared });
        }
        if let Some((first, second)) = plan.conflict() {
            let explanation = format!("`{}` contradicts `{}`", first.call, second.call);
            // The order is decided then; the call itself is still checked.
            return Some(Found {
                condition: PlanningCondition::Ambiguity,
                explanation,
                cleared: None,
            });
        }
        let explanation = self.tools.concern(call)?;
        Some(Found { condition: PlanningCondition::SensitiveAction, explanation, cleared })
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
