//! Answers and decisions of people that are only in JSON.

use machine::{contract::execution::DEFINITION, stored::Unverified, view::ConsequenceView};
use serde_json::{Value, json};

use crate::effects::{prelude::*, tools::lookup};

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
    let claim = forge::claim(&Execution::new(Contract::retry(&failed, ann())));
    let claim: Unverified = serde_json::from_value(serde_json::to_value(claim).unwrap()).unwrap();
    let mut read: AnyExecution = forge::cross_execution(claim).unwrap();
    let is_shown = Store::memory().create(&mut read).await.is_ok();
    assert!(!(is_shown && ConsequenceView::of(&read).human_confirmed));
}
