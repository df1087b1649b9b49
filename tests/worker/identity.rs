//! The identities of its tools that a worker publishes when it starts.

use machine::{
    contract::{Action, ActionType, Effect},
    effects::EffectError,
    worker::WorkerError,
};
use serde_json::{Map, Value, json};

use crate::worker::prelude::*;

tool!(
    Wire { n: u64, at: u64 } = "bank",
    "wire",
    Irreversible,
    fn identity(&self) -> Option<Value> {
        Some(json!({ "n": self.n }))
    }
);

// A tool with the name of `Wire`, in a newer program.
tool!(
    NewWire { n: u64, at: u64 } = "bank",
    "wire",
    Irreversible,
    fn identity(&self) -> Option<Value> {
        Some(json!({ "n": self.n, "at": self.at }))
    }
);

fn wire(n: u64, at: u64) -> Execution<machine::contract::execution::Pending> {
    Execution::new(Contract::of(&Wire { n, at }, reasoning_node()).unwrap())
}

/// In a fresh file, too, a model does not choose the effect of a tool that a worker has.
#[test]
fn a_model_does_not_choose_the_effect() {
    each(async |store| {
        let bank = Service::default();
        settle(worker(&store).tool::<Wire>(bank.clone())).await;
        let detail = [
            ("service".to_owned(), json!("bank")),
            ("method".to_owned(), json!("wire")),
            ("args".to_owned(), json!({ "n": 1, "at": 1 })),
        ];
        let action = Action::new(ActionType::ToolCall, Map::from_iter(detail)).unwrap();
        let chosen = Contract::action_of(action, Effect::Idempotent, reasoning_node()).unwrap();
        let lowered = store.create(&mut Execution::new(chosen)).await;
        assert_err!(lowered, EffectError::EffectLowered { .. });
        assert_eq!(bank.calls(), 0);
    });
}

/// A worker whose tool derives other keys does not start.
#[test]
fn a_worker_with_another_identity_does_not_start() {
    each(async |store| {
        let bank = Service::default();
        let paid = create(&store, wire(1, 1)).await;
        settle(worker(&store).tool::<Wire>(bank.clone())).await;
        let refused = worker(&store).tool::<NewWire>(bank.clone()).run_until_idle().await;
        assert_err!(refused, WorkerError::Effect(EffectError::OtherIdentity { tool, by, stored, made })
            if tool == "bank.wire" && *by == paid
                && stored.contains(r#"{"n":1}"#) && made.contains(r#"{"at":1,"n":1}"#));
        let running = worker(&store).tool::<NewWire>(bank.clone()).start();
        assert_err!(running.stop().await, WorkerError::Effect(EffectError::OtherIdentity { .. }));
        // The older program continues.
        create(&store, wire(2, 2)).await;
        settle(worker(&store).tool::<Wire>(bank.clone())).await;
        assert_eq!(bank.calls(), 2);
    });
}
