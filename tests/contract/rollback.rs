//! A rollback plan is data: what undoes what, newest first (OR-6).

use std::time::Duration;

use machine::{
    Id,
    contract::{
        Action, AnyExecution, Contract, Effect, Execution, RollbackPlan, Settled, ToolSpec,
        execution::Completed,
    },
    effects::EffectError,
    store::{CommitError, Store},
};
use machine_tests::{
    actors::{graph_runner, reasoning_node, tool_node},
    assert_err,
    samples::receipt,
    stores::planned,
};
use serde_json::json;

fn patch(text: &str) -> Contract {
    let spec = ToolSpec::idempotent("files", "patch").unwrap();
    let arguments = json!({ "patch": text }).to_string();
    Contract::tool_call(&spec, &arguments, reasoning_node()).unwrap().about(text)
}

fn done(contract: Contract) -> Execution<Completed> {
    Execution::new(contract).start(tool_node()).succeed("ok".to_owned(), tool_node())
}

fn undo(text: &str) -> Contract {
    patch(&format!("not {text}"))
}

#[test]
fn the_newest_is_undone_first() {
    let first = done(patch("a").undone_by(&undo("a")));
    let second = done(patch("b"));
    let third = done(patch("c").undone_by(&undo("c")));
    let fourth = done(patch("d"));
    let plan = RollbackPlan::of([&first, &second, &third, &fourth]);
    let steps: Vec<(Id, &str, &Action)> =
        plan.steps.iter().map(|step| (step.undoes, step.summary.as_str(), &step.action)).collect();
    assert_eq!(
        steps,
        [
            (third.id(), "files.patch → c", undo("c").action()),
            (first.id(), "files.patch → a", undo("a").action()),
        ]
    );
    assert_eq!(plan.without, [fourth.id(), second.id()]);
    assert_eq!(RollbackPlan::of([]), RollbackPlan::default());
}

/// A plan is data for others to read.
#[test]
fn a_plan_is_json() {
    let first = done(patch("a").undone_by(&undo("a")));
    let second = done(patch("b"));
    assert_eq!(
        json!(RollbackPlan::of([&first, &second])),
        json!({
            "steps": [{
                "undoes": first.id(),
                "summary": "files.patch → a",
                "action": undo("a").action(),
                "effect": "idempotent",
            }],
            "without": [second.id()],
        })
    );
}

/// The way back is part of the contract, and is stored with it. It is not part of the action.
#[test]
fn the_way_back_belongs_to_the_contract() {
    let contract = patch("a").undone_by(&undo("a"));
    assert_eq!(contract.rollback(), Some(undo("a").action()));
    assert_eq!(contract.idempotency_key(), patch("a").idempotency_key());
    assert_eq!(contract.action().digest(), patch("a").action().digest());
    assert_eq!(patch("a").rollback(), None);
}

/// Undoing is an action like any other. Each execution is undone once.
#[tokio::test]
async fn each_execution_is_undone_once() {
    let store = Store::memory();
    let irreversible = || done(patch("a").irreversible().undone_by(&undo("a").irreversible()));
    let (first, second) = (irreversible(), irreversible());
    let plan = RollbackPlan::of([&first, &second]);
    assert!(plan.steps.iter().all(|step| step.effect == Effect::Irreversible));
    let contracts: Vec<Contract> = plan
        .steps
        .iter()
        .map(|step| step.contract(reasoning_node(), graph_runner()).unwrap())
        .collect();
    assert_ne!(contracts[0].idempotency_key(), contracts[1].idempotency_key());
    for contract in &contracts {
        assert!(contract.is_irreversible());
        assert_eq!(contract.summary(), "undo files.patch → a");
        let planned = planned::<Action>(&store, contract.clone()).await.unwrap();
        let settled = store.perform(planned, receipt("undone"), tool_node()).await.unwrap();
        assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");
    }
    // Planned again from the same executions, it is known to be done.
    let again =
        RollbackPlan::of([&first]).steps[0].contract(reasoning_node(), graph_runner()).unwrap();
    let refused = planned::<Action>(&store, again).await;
    assert_err!(refused, EffectError::Commit(CommitError::AlreadyDone { .. }));
}

/// The contract of a step has the effect and the limits of the contract that undoes it, also if what it
/// undoes was harmless, or had others.
#[tokio::test]
async fn a_way_back_has_its_own_effect_and_limits() {
    let spec = ToolSpec::irreversible("email", "send").unwrap();
    let spec = spec.timeout(Some(Duration::from_secs(7))).settling_time(Duration::from_secs(8));
    let apology = Contract::tool_call(&spec, r#"{"to":"bob"}"#, reasoning_node()).unwrap();
    let raised = undo("b").irreversible();
    let patient = undo("c").timeout_after(Duration::from_secs(9));
    let store = Store::memory();
    for (back, effect, timeout, settling_time) in [
        (&apology, Effect::Irreversible, 7, 8),
        (&raised, Effect::Irreversible, 30, 60),
        (&patient, Effect::Idempotent, 9, 60),
    ] {
        let mut first = done(patch("a").undone_by(back));
        store.create(&mut first).await.unwrap();
        let AnyExecution::Completed(loaded) = store.load(first.id()).await.unwrap() else {
            panic!("not completed")
        };
        for execution in [&first, &loaded] {
            let plan = RollbackPlan::of([execution]);
            assert_eq!(plan.steps[0].effect, effect);
            let contract = plan.steps[0].contract(reasoning_node(), graph_runner()).unwrap();
            assert_eq!(contract.is_irreversible(), effect == Effect::Irreversible);
            assert_eq!(contract.timeout(), Some(Duration::from_secs(timeout)));
            assert_eq!(contract.settling_time(), Duration::from_secs(settling_time));
        }
    }
}
