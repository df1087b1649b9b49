//! Only the approved action runs.

use crate::effects::{
    bank::Dedup, office::Office, prelude::*, tool::pay, tools::Track, worker::Report,
};

/// The question shows the arguments, the worker in another process gets them from the store, and
/// the bank pays them. A tool of another type does not get the execution.
#[tokio::test]
async fn the_arguments_of_the_call_are_those_of_the_question() {
    let office = Office::open(Dedup::Nothing).await;
    // The asker's text about it does not become part of the question.
    let (gate, planned) = office.asked_to_pay(pay("bob").about("nothing at all")).await;
    let digest = planned.context().action().digest();
    assert_eq!(gate.approval().action(), digest);
    let question = format!(
        "Allow bank.pay? This cannot be undone.\namount: 10\nto: \"bob\"\n[action {}]",
        &digest.to_string()[..16]
    );
    assert_eq!(gate.question(), question);

    office.approve(gate).await;
    let id = planned.id();
    let refused = Planned::<Track>::of(planned.into_execution()).unwrap_err();
    assert_is!(refused.reason, machine::contract::InvalidContract::OtherTool { .. });
    assert_eq!(office.pays(id), Report::Completed("receipt 1".to_owned()));
    let paid = &office.bank.paid()[..];
    let [payment] = paid else { panic!("{paid:?}") };
    assert_eq!((payment.to.as_str(), payment.amount), ("bob", 10));
    assert_eq!(payment.key, pay("bob").idempotency_key().unwrap().to_string());
}

/// For a tool that is known at run time only, too, the call has the action whose digest was
/// approved, whatever the service has captured.
#[tokio::test]
async fn the_action_of_the_call_is_the_one_that_was_approved() {
    let place = Place::new().await;
    let spec = ToolSpec::irreversible("bank", "pay").unwrap();
    let arguments = r#"{"to": "bob", "amount": 10.0, "note": {"b": [1, 2.5], "a": null}}"#;
    let contract = Contract::tool_call(&spec, arguments, reasoning_node()).unwrap();
    let (gate, planned) = place.asked(contract).await;
    let approved = gate.approval().action();
    place.approve(gate).await;

    let captured = "eve".to_owned();
    let service = service_fn(move |call: &Call<Action>| {
        let action = &call.arguments;
        let to = action.detail()["args"]["to"].as_str().unwrap().to_owned();
        assert_ne!(to, captured);
        let said = format!("{to} {}", action.digest());
        Box::pin(async move { Ok(Applied::new(said)) })
    });
    let loaded = place.pending(planned.id()).await;
    let settled = place.store.perform::<Action>(loaded, service, tool_node()).await.unwrap();
    let Settled::Completed(done) = settled else { panic!("{settled:?}") };
    assert_eq!(done.state().result, format!("bob {approved}"));
}

/// A person edits the action in the file after it was approved, or before.
#[tokio::test]
async fn an_action_that_was_edited_in_the_file_does_not_run() {
    for approve_first in [false, true] {
        let office = Office::open(Dedup::Nothing).await;
        let (gate, planned) = office.asked_to_pay(pay("bob")).await;
        if approve_first {
            office.approve(office.gate(gate.id()).await).await;
        }
        let edited = "UPDATE context SET body = replace(body, '\"bob\"', '\"eve\"')";
        assert_ne!(office.raw().execute(edited, []).unwrap(), 0);
        let id = planned.id();
        assert_err!(office.store.load::<AnyExecution>(id).await, LoadError::Unreadable(_));
        assert_eq!(office.pays(id), Report::NotBegun("Unreadable".to_owned()));
        if !approve_first {
            assert_is!(office.refuses_approval(gate).await.1, EffectError::GateChanged { .. });
        }
        assert_eq!(office.bank.count(), 0);
    }
}
