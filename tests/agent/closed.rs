//! Results that are left out, and calls that are closed instead of made.

use machine::{
    agent::{BoxId, CallTarget, Driver},
    contract::{Registry, ToolCall, ToolSpec},
};

use super::{
    queue::queued,
    scenarios::results,
    sets::{Caller, waiting},
    support::{agent, agent_call, id, new_turn},
};
use crate::worker::prelude::{Applied, Arc, Duration, Hand, Store, settle, timed, until, worker};

const LIMIT: Option<Duration> = Some(Duration::from_hours(1));

/// It has taken effect, which a model that took it for refused would repeat.
#[test]
fn a_receipt_that_is_too_large_for_a_card_is_left_out() {
    let spec = ToolSpec::idempotent("files", "read").unwrap();
    let mut registry = Registry::new();
    let added =
        registry.add(spec.clone(), |_| Box::pin(async { Ok(Applied::new("\"".repeat(1 << 20))) }));
    added.unwrap();
    let registry = Arc::new(registry);
    timed(async |store: Store, _: Hand| {
        let agents = queued(&store, 1).await;
        let target = CallTarget::Tool(ToolCall::new(&spec, "{}").unwrap());
        let calls = Driver(Caller(vec![agent_call(0, target, LIMIT)]));
        settle(worker(&store).handler(calls).other_tools(Arc::clone(&registry))).await;
        let results = results(&agents).await;
        let receipt = results[0]["receipt"].as_str().unwrap();
        assert!(receipt.starts_with("left out: it has 2097"), "{receipt}");
        assert!(receipt.ends_with("do not repeat the call, ask for less"), "{receipt}");
    });
}

/// Another call has the same box, and nothing is wrong with it. Turn 9 never ends.
#[test]
fn the_call_that_is_refused_is_closed() {
    let to = |name: &str, context: u64, output: u64| {
        let mut task = new_turn(name, 1, output).task;
        task.context_box = BoxId(id(context));
        CallTarget::Agent { agent: agent(name), task }
    };
    for made in
        [[to("clerk", 0, 77), to("helper", 0, 77)], [to("helper", 78, 78), to("helper", 99, 78)]]
    {
        let made = (0..).zip(made).map(|(number, target)| agent_call(number, target, LIMIT));
        let made: Vec<_> = made.collect();
        timed(async |store: Store, _: Hand| {
            let agents = queued(&store, 1).await;
            agents.create(&agent("clerk")).await.unwrap();
            agents.enqueue(new_turn("helper", 9, 77)).await.unwrap();
            let calls = Driver(Caller(made.clone()));
            let running = worker(&store).handler(calls).grace(Duration::ZERO).start();
            until("the turn waits", async || waiting(&agents).await.is_some_and(|it| it > 0)).await;
            running.stop().await.unwrap();
            let head = agents.head(&agent("planner")).await.unwrap();
            let open: Vec<_> =
                head.active.unwrap().waiting.iter().map(|member| member.id.index).collect();
            assert_eq!(open, [1]);
            assert!(results(&agents).await[0]["error"]["refused"].is_string());
        });
    }
}
