//! Equal calls of two turns: each tool says whether it repeats.

use machine::{
    agent::{ActiveTurn, Agent, AgentId, BoxId, CallTarget, CardKind, Deliverable, Driver, Work},
    contract::{Registry, ToolCall, ToolSpec},
    worker::{Failure, Task},
};
use serde_json::json;

use super::{
    queue::queued,
    support::{agent_call, id, makes},
};
use crate::worker::prelude::{Applied, Arc, Count, Hand, Store, settle, timed, worker};

/// Makes the same call in each turn.
struct Caller(ToolSpec);

impl Agent for Caller {
    async fn run(&self, _: &AgentId, active: &ActiveTurn, _: &Task) -> Result<Work, Failure> {
        if active.step > 1 {
            return Ok(Deliverable::Done(json!("sent")).into());
        }
        let target = CallTarget::Tool(ToolCall::new(&self.0, "{}")?);
        Ok(makes(vec![agent_call(0, target, None)]))
    }
}

/// The key of an irreversible call is made from its tool and its arguments, for the life of the
/// store, unless the tool says otherwise.
#[test]
fn a_tool_says_whether_equal_calls_repeat() {
    let mail = || ToolSpec::irreversible("office", "mail").unwrap();
    let read = ToolSpec::idempotent("office", "read").unwrap();
    for (spec, calls) in [(mail(), 1), (mail().per_call(), 2), (read, 2)] {
        timed(async |store: Store, _: Hand| {
            let agents = queued(&store, 2).await;
            let (mut registry, made) = (Registry::new(), Count::default());
            let counted = made.clone();
            let added = registry.add(spec.clone(), move |_| {
                counted.add();
                Box::pin(async { Ok(Applied::new("done")) })
            });
            added.unwrap();
            let worker = worker(&store).handler(Driver(Caller(spec.clone())));
            settle(worker.other_tools(Arc::new(registry))).await;

            assert_eq!(made.get(), calls, "{}", spec.name());
            let mut cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
            cards.retain(|(card, _)| card.kind == CardKind::ToolResult);
            let receipts = cards.iter().filter(|(_, body)| *body == json!({ "receipt": "done" }));
            assert_eq!((cards.len(), receipts.count()), (2, calls), "{cards:?}");
            let is_refused = cards[1].1["error"]["already_done"].is_object();
            assert_eq!(is_refused, calls == 1, "{cards:?}");
        });
    }
}
