//! The text of a contract that was edited in its stored form: what follows from the action is
//! derived again, and what contradicts it is refused.

use machine::{
    contract::{AnyExecution, Execution, execution::Pending},
    effects::EffectError,
    store::{CommitError, Store},
    stored::{Durable, Unverified, VerifyError},
    typed::State,
};
use machine_tests::{
    actors::{ecs_node, tool_node},
    assert_err, forge,
    samples::{Ticket, asked, mail, pending_mail, read},
};
use serde_json::{Value, json};

/// The execution after an edit of its contract by an author who knows the format, with all digests
/// computed again.
pub(super) fn edited(
    machine: &dyn Durable,
    edit: impl Fn(&mut Value),
) -> Result<AnyExecution, VerifyError> {
    let mut claim = forge::claim(machine);
    let mut context: Value = serde_json::from_str(&claim.record.context).unwrap();
    edit(&mut context);
    claim.record.context = context.to_string();
    forge::cross_execution(claim)
}

#[track_caller]
fn refused(machine: &dyn Durable, because: &str, edit: impl Fn(&mut Value)) {
    let result = edited(machine, edit);
    assert_err!(result, VerifyError::Data { .. });
    let error = result.unwrap_err();
    assert!(error.to_string().contains(because), "{error}");
    let source = std::error::Error::source(&error).map(ToString::to_string);
    assert!(source.is_some_and(|source| source.contains(because)), "{error:?}");
}

/// Without an edit the text is accepted, so what is refused below is the edit.
#[test]
fn an_unedited_contract_is_accepted() {
    for contract in [mail("bob"), read("a.txt"), read("a.txt").irreversible()] {
        let pending = Execution::new(contract.clone());
        let same = edited(&pending, |_| {}).unwrap();
        assert_eq!(same.context().action(), contract.action());
        assert_eq!(same.context().idempotency_key(), contract.idempotency_key());
    }
}

#[test]
fn a_risk_cannot_be_lowered() {
    refused(&pending_mail("bob"), "its tool is irreversible", |contract| {
        contract["irreversible"] = json!(false);
    });
    for odd in [json!(null), json!(0), json!("false"), json!({})] {
        refused(&pending_mail("bob"), "invalid type", |contract| {
            contract["irreversible"] = odd.clone();
        });
    }
    for odd in ["harmless", "Irreversible", ""] {
        refused(&pending_mail("bob"), "unknown variant", |contract| {
            contract["effect"] = json!(odd);
        });
    }
    for name in ["irreversible", "effect", "action", "summary"] {
        refused(&pending_mail("bob"), "missing field", |contract| {
            contract.as_object_mut().unwrap().remove(name);
        });
    }
}

/// The key is that of the action, and of no other.
#[test]
fn a_key_is_derived_again() {
    let foreign = mail("eve").idempotency_key().unwrap().to_string();
    let because = "its idempotency key does not match its action";
    for key in [json!(foreign), json!(""), json!("mine"), json!(null)] {
        refused(&pending_mail("bob"), because, |contract| {
            contract["idempotency_key"] = key.clone();
        });
    }
    refused(&pending_mail("bob"), because, |contract| {
        contract.as_object_mut().unwrap().remove("idempotency_key");
    });
    refused(&asked("Sure?"), because, |contract| contract["idempotency_key"] = json!(foreign));
    refused(&Execution::new(read("a.txt")), because, |contract| {
        contract["idempotency_key"] = json!(foreign);
    });
    // The fields that decide about the key cannot be changed without it.
    for (name, value) in [
        ("args", json!({ "to": "eve" })),
        ("service", json!("bank")),
        ("method", json!("pay")),
        ("identity", json!("mine")),
        ("occurrence", json!("again")),
    ] {
        refused(&pending_mail("bob"), because, |contract| {
            contract["action"]["action_detail"][name] = value.clone();
        });
    }
    // A field outside the identity changes no key, and nothing else is derived.
    let spaced = edited(&pending_mail("bob"), |contract| contract["summary"] = json!("x")).unwrap();
    assert_eq!(spaced.context().idempotency_key(), mail("bob").idempotency_key());
}

/// The action passes the checks of an action.
#[test]
fn an_action_is_checked_again() {
    refused(&pending_mail("bob"), "this is not a tool call", |contract| {
        contract["action"]["action_detail"]["service"] = json!("");
    });
    refused(&pending_mail("bob"), "this is not a tool call", |contract| {
        contract["action"]["action_detail"]["irreversible"] = json!(false);
    });
    refused(&pending_mail("bob"), "262144", |contract| {
        contract["action"]["action_detail"]["args"]["to"] = json!("x".repeat(300_000));
    });
    refused(&pending_mail("bob"), "levels deep", |contract| {
        let deep = (0..80).fold(json!(1), |inner, _| json!([inner]));
        contract["action"]["action_detail"]["args"]["to"] = deep;
    });
    // An action of another type has another key, and is no longer a tool call.
    refused(&pending_mail("bob"), "idempotency key", |contract| {
        contract["action"]["action_type"] = json!("webhook");
    });
}

/// A question does not become a gate by its text, nor a gate another one.
#[test]
fn an_approval_cannot_be_written() {
    let (gate, _planned) = mail("bob").ask::<machine::contract::Action>(None, ecs_node()).unwrap();
    let approves = json!(gate.approval());
    let because = "it asks for an approval but is not a question";
    refused(&pending_mail("bob"), because, |contract| contract["approves"] = approves.clone());
    refused(&Execution::new(read("a.txt")), because, |contract| {
        contract["approves"] = approves.clone();
    });
    // The gate names itself.
    let asked = &*gate;
    assert!(edited(asked, |_| {}).is_ok());
    let other = edited(asked, |contract| contract["approves"]["gate"] = json!(Ticket::new().id()));
    assert!(other.is_err(), "{other:?}");
    for name in ["gate", "execution", "action"] {
        refused(asked, "missing field", |contract| {
            contract["approves"].as_object_mut().unwrap().remove(name);
        });
    }
}

/// A tool that is lowered together with everything that follows from it is another tool's contract:
/// its type and its registry refuse it, and so does a store that knows the tool.
#[tokio::test]
async fn a_lowered_tool_is_refused_by_the_store() {
    let store = Store::memory();
    let mut known = pending_mail("ann");
    store.create(&mut known).await.unwrap();
    let mut lowered = edited(&pending_mail("bob"), |contract| {
        contract["irreversible"] = json!(false);
        contract["effect"] = json!("idempotent");
    })
    .unwrap();
    assert!(!lowered.context().is_irreversible());
    let refused = store.create(&mut lowered).await;
    assert_err!(refused, EffectError::EffectLowered { what, .. } if what.contains("email.send"));
}

/// An irreversible action from data is not stored, in any store: it could be begun in each of them.
#[tokio::test]
async fn an_irreversible_action_is_not_imported() {
    let store = Store::memory();
    let mut imported = edited(&pending_mail("bob"), |_| {}).unwrap();
    assert_err!(store.create(&mut imported).await, EffectError::Imported { .. });
    // The way around: typed again.
    let pending = Pending::narrow(imported).unwrap();
    let refused = store.cancel(pending, "not here", tool_node()).await;
    assert!(refused.is_ok(), "it is never called, so it may be closed: {refused:?}");
    let mut ended = edited(
        &Execution::new(mail("bob")).start(tool_node()).fail("x".to_owned(), None, tool_node()),
        |_| {},
    );
    if let Ok(ended) = &mut ended {
        // It says that it was started without a permit.
        assert_err!(store.create(ended).await, EffectError::Commit(CommitError::Refused { .. }));
    }
    assert_eq!(store.list(&machine::store::Query::new()).await.unwrap().items.len(), 1);
}

/// The contract of a tool call, with members in any order and with foreign ones, is read as it is
/// written, and its text is kept.
#[test]
fn an_unknown_member_is_kept() {
    let later = edited(&pending_mail("bob"), |contract| contract["priority"] = json!(7)).unwrap();
    let claim: Unverified = Unverified::of(&later as &dyn Durable).unwrap();
    assert!(claim.record.context.contains(r#""priority":7"#), "{}", claim.record.context);
    let twice = forge::claim(&pending_mail("bob"));
    for (name, value) in [("irreversible", "true"), ("idempotency_key", "\"x\"")] {
        let mut claim = twice.clone();
        let context = claim.record.context.clone();
        claim.record.context = context.replacen('{', &format!("{{\"{name}\":{value},"), 1);
        let refused = forge::cross_execution(claim);
        assert_err!(refused, VerifyError::Data { .. });
    }
}
