//! A contract from JSON, an effect that was lowered, two keys for one action.

use std::path::{Path, PathBuf};

use machine::{
    Id,
    contract::{
        Action, AnyExecution, Contract, Effect, Execution, InvalidContract, Planned, ToolSpec,
        execution::DEFINITION,
    },
    store::{CommitError, Store},
    stored::{Unverified, VerifyError},
    view::ConsequenceView,
};
use machine_tests::{
    actors::{ann, ecs_node, reasoning_node, tool_node},
    assert_err, forge,
};
use serde_json::{Value, json};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, name, new_store, stored},
    tool::{Pay, Remind, Teller, pay, remind},
    worker::{self, Report},
};
use crate::process::{Process, orders, say};

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

/// Who decided, as data, is decided by nobody.
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

/// A retry from data was decided by nobody, whatever name it has.
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

/// Another program, in which `bank.pay` is a tool that can safely be called again.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn careless() {
    let (file, planned_before): (PathBuf, Option<Id>) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let spec = ToolSpec::idempotent("bank", "pay").unwrap();
    let contract =
        || Contract::tool_call(&spec, r#"{"to": "bob", "amount": 10}"#, reasoning_node()).unwrap();
    let mut pending = Execution::new(contract());
    let created = store.create(&mut pending).await.map_err(|error| name(&error));
    let mut started = Execution::new(contract()).start(tool_node());
    let started = store.create(&mut started).await.map_err(|error| name(&error));
    let begun = match planned_before {
        None => Err("nothing was planned before".to_owned()),
        Some(id) => {
            let AnyExecution::Pending(pending) = store.load(id).await.unwrap() else {
                panic!("it was begun")
            };
            let begun = store.begin::<Action>(pending, tool_node()).await;
            begun.map(drop).map_err(|refused| name(&refused.reason))
        }
    };
    say(&(pending.id(), created, started, begun));
}

type Careless = (Id, Result<(), String>, Result<(), String>, Result<(), String>);

fn careless_program(file: &Path, planned_before: Option<Id>) -> Careless {
    let mut other = Process::start("effects::borders::careless", &(file, planned_before));
    let tried = other.hear();
    other.join();
    tried
}

/// Registered as idempotent after it was registered as irreversible, by another program.
#[tokio::test]
async fn a_tool_does_not_become_less_risky() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    let report = worker::run("pays", &file, id, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    let lowered = || Err("EffectLowered".to_owned());
    let (_, created, started, _) = careless_program(&file, None);
    assert_eq!((created, started), (lowered(), lowered()));
    assert_eq!(bank.count(), 1);
    assert_intact(&store).await;
}

/// The same if the careless program planned it before the file knew better.
#[tokio::test]
async fn what_was_planned_as_harmless_before_does_not_run() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let (planned, created, ..) = careless_program(&file, None);
    assert_eq!(created, Ok(()));
    let id = stored::<Pay>(&store, pay("ann")).await.id();
    let report = worker::run("pays", &file, id, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    let (.., begun) = careless_program(&file, Some(planned));
    assert_eq!(begun, Err("EffectLowered".to_owned()));
    assert_eq!(bank.count(), 1);
}

/// A hint raises one contract. Its key is protected then, whatever other contracts say.
#[tokio::test]
async fn a_key_that_was_used_under_a_permit_needs_one() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Remind>(&store, remind("bob").irreversible()).await.id();
    let report = worker::run("reminds", &file, id, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    let again = stored::<Remind>(&store, remind("bob")).await.id();
    let report = worker::run("reminds", &file, again, Teller::pays(&bank));
    assert_eq!(report, Report::NotBegun("EffectLowered".to_owned()));
    let other = stored::<Remind>(&store, remind("ann")).await.id();
    let report = worker::run("reminds", &file, other, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 2".to_owned()));
    assert_eq!(bank.count(), 2);
}
