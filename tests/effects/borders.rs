//! A contract from JSON, an effect that was lowered, two keys for one action.

use machine::{
    contract::{
        AnyExecution, Contract, Effect, Execution, InvalidContract, Planned, execution::DEFINITION,
    },
    store::CommitError,
    stored::{Unverified, VerifyError},
    view::ConsequenceView,
};
use machine_tests::{
    actors::{ann, ecs_node, tool_node},
    assert_err, forge,
};
use serde_json::{Value, json};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, new_store, stored},
    tool::{Pay, Teller, pay, remind},
    worker::{self, Report},
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
        ("a retry that nobody decided", |context, _| {
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
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    // The type of the tool knows better.
    let AnyExecution::Pending(pending) = lowered() else { panic!("it is pending") };
    assert_eq!(pending.context().effect(), Effect::Idempotent);
    let refused = Planned::<Pay>::of(pending).unwrap_err();
    assert!(matches!(refused.reason, InvalidContract::EffectLowered { .. }), "{refused}");
    // The file remembers it, as soon as the tool was planned once.
    let id = stored::<Pay>(&store, pay("ann")).await.id();
    assert_err!(store.create(&mut lowered()).await, CommitError::EffectLowered { .. });
    let report = worker::run("pays", &file, id, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    assert_intact(&store).await;
}

/// An irreversible action that was read from data has no reasoner. Nothing runs it.
#[tokio::test]
async fn an_irreversible_action_from_json_does_not_run() {
    let (_folder, _, store) = new_store().await;
    let mut read = forge::cross_execution(forged(pay("bob"), |_| {})).unwrap();
    assert_err!(store.create(&mut read).await, CommitError::Imported { .. });
    let AnyExecution::Pending(pending) = read else { panic!("it is pending") };
    let refused = store.begin::<Pay>(Planned::of(pending).unwrap(), tool_node()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::NeverStored { .. }), "{refused}");
    // It can be put aside.
    let pending = refused.machine.into_execution();
    let _ = store.cancel(pending, "planned elsewhere", tool_node()).await.unwrap();
}

/// A decision in data is not a decision of a person.
#[tokio::test]
async fn an_answer_from_json_is_not_an_answer() {
    let (_folder, _, store) = new_store().await;
    let (mut gate, mut planned) = pay("bob").ask::<Pay>(None, ecs_node()).unwrap();
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
    assert_err!(store.create(&mut opened).await, CommitError::Imported { .. });
    let both = store.batch().create(&mut opened).create(planned.machine()).write().await;
    assert_err!(both, CommitError::Imported { .. });
    // The gate itself is not harmed.
    store.ask(&mut gate, &mut planned).await.unwrap();
    let _ = machine_tests::approve(&store, gate, ann()).await.unwrap();
    assert!(store.begin(planned, tool_node()).await.is_ok());
}

/// A retry in data is not a decision of a person, whatever name it has.
#[tokio::test]
async fn a_decision_from_json_is_not_a_decision() {
    let (_folder, _, store) = new_store().await;
    let failed =
        Execution::new(remind("bob")).start(tool_node()).fail("no".to_owned(), tool_node());
    // A forger needs no person to write the same text.
    let claim = forged(Contract::retry(&failed, ann()), |_| {});
    let mut read: AnyExecution = forge::cross_execution(claim).unwrap();
    let is_shown = store.create(&mut read).await.is_ok();
    assert!(!(is_shown && ConsequenceView::of(&read).human_confirmed));
}
