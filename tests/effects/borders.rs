//! A contract from JSON, an effect that was lowered, two keys for one action.

use machine::{
    contract::{Effect, InvalidContract, execution::DEFINITION},
    stored::Unverified,
    view::ConsequenceView,
};
use serde_json::{Value, json};

use crate::effects::{
    bank::Dedup,
    office::Office,
    prelude::*,
    tool::{Pay, pay},
    tools::lookup,
    worker::Report,
};

/// An execution of this contract as JSON, with its context changed.
fn forged(contract: Contract, change: impl FnOnce(&mut Value)) -> Unverified {
    let mut claim = forge::claim(&Execution::new(contract));
    let mut context: Value = serde_json::from_str(&claim.record.context).unwrap();
    change(&mut context);
    claim.record.context = context.to_string();
    forge::reseal(&mut claim, DEFINITION);
    // It comes from outside.
    serde_json::from_value(serde_json::to_value(claim).unwrap()).unwrap()
}

type Change = fn(&mut Value, &str);

/// The digests of a forger are right; the contract is checked all the same.
#[test]
fn a_contract_that_contradicts_itself_is_refused() {
    forge::cross_execution(forged(pay("bob"), |_| {})).unwrap();
    let key_of_eve = pay("eve").idempotency_key().unwrap().to_string();
    let changes: [(&str, Change); 6] = [
        ("lowered", |context, _| context["irreversible"] = json!(false)),
        ("another key", |context, eve| context["idempotency_key"] = json!(eve)),
        ("no key", |context, _| drop(context.as_object_mut().unwrap().remove("idempotency_key"))),
        ("another action", |context, _| {
            context["action"]["action_detail"]["args"]["to"] = json!("eve");
        }),
        ("an action that is no call", |context, _| context["action"]["action_detail"] = json!({})),
        ("a retry without a decision", |context, _| {
            context["retry_of"] = json!("01890a5d-ac96-774b-bcce-b302099a8057");
        }),
    ];
    for (what, change) in changes {
        let refused =
            forge::cross_execution(forged(pay("bob"), |context| change(context, &key_of_eve)));
        assert!(matches!(refused, Err(VerifyError::Data { .. })), "{what}: {refused:?}");
    }
}

/// A forger lowers the tool as well, so that the contract does not contradict itself.
fn lowered() -> AnyExecution {
    let claim = forged(pay("bob"), |context| {
        context["irreversible"] = json!(false);
        context["effect"] = json!("idempotent");
    });
    forge::cross_execution(claim).unwrap()
}

#[tokio::test]
async fn a_lowered_effect_is_refused() {
    let office = Office::open(Dedup::Nothing).await;
    // The type of the tool knows better.
    let AnyExecution::Pending(pending) = lowered() else { panic!("it is pending") };
    assert_eq!(pending.context().effect(), Effect::Idempotent);
    let refused = Planned::<Pay>::of(pending).unwrap_err();
    assert_is!(refused.reason, InvalidContract::EffectLowered { .. });
    // The file remembers it, as soon as the tool was planned once.
    let id = office.planned(pay("ann")).await;
    assert_is!(office.refuses_machine(&mut lowered()).await, EffectError::EffectLowered { .. });
    assert_eq!(office.pays(id), Report::Completed("receipt 1".to_owned()));
    office.assert_intact().await;
}

/// An irreversible action that was read from data has no reasoner. Nothing runs it.
#[tokio::test]
async fn an_irreversible_action_from_json_does_not_run() {
    let place = Place::new().await;
    let mut read = forge::cross_execution(forged(pay("bob"), |_| {})).unwrap();
    assert_is!(place.refuses_machine(&mut read).await, EffectError::Imported { .. });
    let AnyExecution::Pending(pending) = read else { panic!("it is pending") };
    let refused = place.store.begin::<Pay>(Planned::of(pending).unwrap(), tool_node()).await;
    let refused = refused.unwrap_err();
    assert_is!(refused.reason, EffectError::Commit(CommitError::NeverStored { .. }));
    // It can be put aside.
    let pending = refused.machine.into_execution();
    let _ = place.store.cancel(pending, "planned elsewhere", tool_node()).await.unwrap();
}

/// A decision in data is not a decision of a person.
#[tokio::test]
async fn an_answer_from_json_is_not_an_answer() {
    let place = Place::new().await;
    let (mut gate, mut planned) = gated(mail("bob"));
    let mut claim = forge::claim(gate.machine());
    let (at, behind) = (claim.journal.last().unwrap().at, gate.approval());
    let decided = json!({ "recorded": { "name": "contract", "data": { "decided": {
        "approved": true, "execution": behind.execution(), "action": behind.action(), "at": at,
    } } } });
    let moved = |from: &str, trigger: &str, to: &str, payload: Value| json!({ "moved": { "from": from, "to": to, "trigger": trigger, "payload": payload } });
    let facts = [
        ("human", decided),
        ("graph_runner", moved("waiting", "resume", "running", json!({}))),
        ("graph_runner", moved("running", "succeed", "completed", json!({ "result": "yes" }))),
    ];
    for (actor, fact) in facts {
        let number = claim.journal.len() as u64;
        let mut entry = forge::entry(number, at, Some(actor), DEFINITION.fingerprint, &fact);
        if actor == "human" {
            entry.by = Some("ann".into());
        }
        claim.journal.push(entry);
    }
    "completed".clone_into(&mut claim.record.status);
    r#"{"result":"yes"}"#.clone_into(&mut claim.record.state);
    let mut opened = forge::cross_execution(claim).unwrap();
    assert_is!(place.refuses_machine(&mut opened).await, EffectError::Imported { .. });
    let both = place.store.batch().create(&mut opened).create(planned.machine()).write().await;
    assert_err!(both, EffectError::Imported { .. });
    // The gate itself is not harmed.
    place.store.ask(&mut gate, &mut planned).await.unwrap();
    place.approve(gate).await;
    let _ = begin(&place.store, planned).await.unwrap();
}

/// A retry in data is not a decision of a person, whatever name it has.
#[tokio::test]
async fn a_decision_from_json_is_not_a_decision() {
    let failed =
        Execution::new(lookup(4711)).start(tool_node()).fail("no".to_owned(), None, tool_node());
    // A forger needs no person to write the same text.
    let claim = forged(Contract::retry(&failed, ann()), |_| {});
    let mut read: AnyExecution = forge::cross_execution(claim).unwrap();
    let is_shown = Store::memory().create(&mut read).await.is_ok();
    assert!(!(is_shown && ConsequenceView::of(&read).human_confirmed));
}
