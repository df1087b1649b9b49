//! The identities of its tools that a worker publishes when it starts.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use machine::{
    contract::{
        Action, ActionType, Answer, AnyExecution, Applied, Call, Contract, Effect, Execution,
        Irreversible, Perform, Planned, Tool, ToolSpec,
        execution::{Pending, Status},
    },
    store::{CommitError, Store},
};
use machine_tests::{actors::reasoning_node, assert_err};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::worker::support::{create, each, settle, worker};

#[derive(Debug, Serialize, Deserialize)]
struct Wire {
    n: u64,
    at: u64,
}

impl Tool for Wire {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "wire";
    type Effect = Irreversible;
    type Receipt = String;

    fn identity(&self) -> Option<Value> {
        Some(json!({ "n": self.n }))
    }
}

/// A tool with the name of `Wire`, in a newer program.
#[derive(Debug, Serialize, Deserialize)]
struct NewWire {
    n: u64,
    at: u64,
}

impl Tool for NewWire {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "wire";
    type Effect = Irreversible;
    type Receipt = String;

    fn identity(&self) -> Option<Value> {
        Some(json!({ "n": self.n, "at": self.at }))
    }
}

/// Counts the payments.
#[derive(Clone, Default)]
struct Bank(Arc<AtomicUsize>);

impl<T: machine::contract::Callable<Receipt = String>> Perform<T> for Bank {
    async fn perform(&self, _: &Call<T>) -> Answer {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Applied::new("paid"))
    }
}

fn wire(n: u64, at: u64) -> Contract {
    Contract::of(&Wire { n, at }, reasoning_node()).unwrap()
}

/// An action that a model wrote, with an effect of its choice.
fn chosen(effect: Effect) -> Contract {
    let detail = json!({ "service": "bank", "method": "wire", "args": { "n": 1, "at": 1 } });
    let Value::Object(detail) = detail else { unreachable!() };
    let action = Action::new(ActionType::ToolCall, Map::from_iter(detail)).unwrap();
    Contract::action_of(action, effect, reasoning_node()).unwrap()
}

async fn plan(store: &Store, contract: Contract) -> Result<Execution<Pending>, CommitError> {
    let mut planned = Execution::new(contract);
    store.create(&mut planned).await.map(|()| planned)
}

/// In a fresh file, too, a model does not choose the effect of a tool that a worker has.
#[tokio::test]
async fn a_model_does_not_choose_the_effect() {
    each(async |store| {
        let bank = Bank::default();
        settle(worker(&store).tool::<Wire>(bank.clone())).await;
        let lowered = plan(&store, chosen(Effect::Idempotent)).await;
        assert_err!(lowered, CommitError::EffectLowered { .. });
        assert_eq!(bank.0.load(Ordering::SeqCst), 0);
    })
    .await;
}

/// A worker whose tool derives other keys does not start.
#[tokio::test]
async fn a_worker_with_another_identity_does_not_start() {
    each(async |store| {
        let bank = Bank::default();
        let paid = create(&store, Execution::new(wire(1, 1))).await;
        settle(worker(&store).tool::<Wire>(bank.clone())).await;
        let refused = worker(&store).tool::<NewWire>(bank.clone()).run_until_idle().await;
        assert_err!(refused, CommitError::OtherIdentity { tool, by, stored, made }
            if tool == "bank.wire" && *by == paid
                && stored.contains(r#"{"n":1}"#) && made.contains(r#"{"at":1,"n":1}"#));
        let running = worker(&store).tool::<NewWire>(bank.clone()).start();
        assert_err!(running.stop().await, CommitError::OtherIdentity { .. });
        // The older program continues.
        create(&store, Execution::new(wire(2, 2))).await;
        settle(worker(&store).tool::<Wire>(bank.clone())).await;
        assert_eq!(bank.0.load(Ordering::SeqCst), 2);
    })
    .await;
}

/// A tool from a server that does not know its identity: nothing runs, in either order.
#[tokio::test]
async fn a_tool_without_its_identity_does_not_run() {
    each(async |store| {
        let bank = Bank::default();
        let spec = ToolSpec::irreversible("bank", "wire").unwrap();
        let of_spec = || {
            let arguments = r#"{"n":1,"at":1}"#;
            Contract::tool_call(&spec, arguments, reasoning_node()).unwrap()
        };
        let early = create(&store, Execution::new(of_spec())).await;
        create(&store, Execution::new(wire(1, 1))).await;
        settle(worker(&store).tool::<Wire>(bank.clone()).other_tools(bank.clone())).await;
        settle(worker(&store).other_tools(bank.clone())).await;
        assert_eq!(bank.0.load(Ordering::SeqCst), 1);
        let early: AnyExecution = store.load(early).await.unwrap();
        assert_eq!(early.status(), Status::Pending);
        let late = store.plan(&mut Planned::<Action>::new(of_spec()).unwrap()).await;
        assert_err!(
            late,
            CommitError::IdentityChanged { identity: true, .. } | CommitError::OtherIdentity { .. }
        );
    })
    .await;
}
