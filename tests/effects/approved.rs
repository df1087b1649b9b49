//! Only the approved action runs.

use machine::{
    contract::{
        Action, AnyExecution, Applied, Contract, Perform, Planned, Settled, ToolSpec, service_fn,
    },
    store::{CommitError, LoadError},
};
use machine_tests::{
    actors::{ann, ecs_node, reasoning_node, tool_node},
    assert_err,
};

use crate::effects::{
    bank::{Bank, Dedup},
    support::new_store,
    tool::{Pay, Teller, pay},
    worker::{self, Report},
};

/// The question shows the arguments, the worker in another process gets them from the store, and the
/// bank pays them.
#[tokio::test]
async fn the_arguments_of_the_call_are_those_of_the_question() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    // The asker's text about it does not become part of the question.
    let contract = pay("bob").about("nothing at all");
    let (mut gate, mut planned) = contract.ask::<Pay>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let digest = planned.execution().context().action().digest();
    assert_eq!(gate.approval().action(), digest);
    let question = format!(
        "Allow bank.pay? It cannot be taken back.\namount: 10\nto: \"bob\"\n[action {}]",
        &digest.to_string()[..16]
    );
    assert_eq!(gate.question(), question);

    let _ = machine_tests::approve(&store, gate, ann()).await.unwrap();
    let report = worker::run("pays", &file, planned.id(), Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    let paid = &bank.paid()[..];
    let [payment] = paid else { panic!("{paid:?}") };
    assert_eq!((payment.to.as_str(), payment.amount), ("bob", 10));
    assert_eq!(payment.key, pay("bob").idempotency_key().unwrap().to_string());
}

/// For a tool that is known at run time only, too, the call has the action whose digest was
/// approved, whatever the service has captured.
#[tokio::test]
async fn the_action_of_the_call_is_the_one_that_was_approved() {
    let (_folder, _, store) = new_store().await;
    let spec = ToolSpec::irreversible("bank", "pay").unwrap();
    let arguments = r#"{"to": "bob", "amount": 10.0, "note": {"b": [1, 2.5], "a": null}}"#;
    let contract = Contract::tool_call(&spec, arguments, reasoning_node()).unwrap();
    let (mut gate, mut planned) = contract.ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let approved = gate.approval().action();
    let _ = machine_tests::approve(&store, gate, ann()).await.unwrap();

    let AnyExecution::Pending(loaded) = store.load(planned.id()).await.unwrap() else {
        panic!("it is pending")
    };
    let captured = "eve".to_owned();
    let service = service_fn(move |call: &machine::contract::Call<Action>| {
        let action = call.arguments();
        let to = action.detail()["args"]["to"].as_str().unwrap().to_owned();
        assert_ne!(to, captured);
        let said = format!("{to} {}", action.digest());
        Box::pin(async move { Ok(Applied::new(said)) })
    });
    let settled = store.perform::<Action>(loaded, service, tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!(done.state().result, format!("bob {approved}"));
}

/// A tool of another type does not get the execution.
#[tokio::test]
async fn another_tool_does_not_run_it() {
    fn performs<T: machine::contract::Callable>(_: &impl Perform<T>) {}
    let (_folder, _, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    performs::<crate::effects::tool::Remind>(&Teller::pays(&bank));
    let (mut gate, mut planned) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let _ = machine_tests::approve(&store, gate, ann()).await.unwrap();
    let refused =
        Planned::<crate::effects::tool::Remind>::of(planned.into_execution()).unwrap_err();
    assert!(matches!(refused.reason, machine::contract::InvalidContract::OtherTool { .. }));
}

/// A person edits the action in the file after it was approved, or before.
#[tokio::test]
async fn an_action_that_was_edited_in_the_file_does_not_run() {
    for approve_first in [false, true] {
        let (_folder, file, store) = new_store().await;
        let bank = Bank::open(Dedup::Nothing);
        let (mut gate, mut planned) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
        store.ask(&mut gate, &mut planned).await.unwrap();
        if approve_first {
            let _ = machine_tests::approve(&store, store.gate(gate.id()).await.unwrap(), ann())
                .await
                .unwrap();
        }
        let raw = rusqlite::Connection::open(&file).unwrap();
        let edited = "UPDATE context SET body = replace(body, '\"bob\"', '\"eve\"')";
        assert_ne!(raw.execute(edited, []).unwrap(), 0);
        drop(raw);
        let id = planned.id();
        assert_err!(store.load::<AnyExecution>(id).await, LoadError::Unreadable(_));
        let report = worker::run("pays", &file, id, Teller::pays(&bank));
        assert_eq!(report, Report::NotBegun("Unreadable".to_owned()));
        if !approve_first {
            let refused = machine_tests::approve(&store, gate, ann()).await.unwrap_err();
            assert!(matches!(refused.reason, CommitError::GateChanged { .. }), "{refused}");
        }
        assert_eq!(bank.count(), 0);
    }
}
