//! Journals with valid digests and an impossible history (EX-2, EX-4).

use machine::{
    contract::{Execution, execution},
    definition::Fingerprint,
    machine,
    stored::{Unverified, VerifyError},
};
use machine_tests::actors::tool_node;
use machine_tests::{
    assert_err, forge,
    samples::{asked, mail, read},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Lamp {
    #[initial]
    #[on(dim => Self)]
    #[on(reset => On)]
    #[on(switch => Off)]
    On,
    #[terminal]
    Off,
}

const DEFINITION: Fingerprint = execution::DEFINITION.fingerprint;

/// A forged record: a pending execution, followed by these moves.
fn forged(moves: &[(&str, Value)], status: &str, state: &str) -> Unverified {
    let mut claim = forge::claim(&Execution::new(read("a.txt")));
    let at = claim.journal[0].at;
    for (actor, fact) in moves {
        let number = claim.journal.len() as u64;
        claim.journal.push(forge::entry(number, at, Some(actor), DEFINITION, fact));
    }
    status.clone_into(&mut claim.record.status);
    state.clone_into(&mut claim.record.state);
    claim
}

fn moved(from: &str, trigger: &str, to: &str) -> Value {
    json!({ "moved": { "from": from, "to": to, "trigger": trigger } })
}

fn refuse(claim: Unverified, because: &str) {
    let refused = forge::cross_execution(claim);
    assert_err!(refused, VerifyError::History { .. });
    let text = refused.unwrap_err().to_string();
    assert!(text.contains(because), "expected `{because}` in `{text}`");
}

/// A legal history is accepted, so the refusals below have other reasons.
#[test]
fn a_legal_forgery_is_accepted() {
    let start = ("tool_node", moved("pending", "start", "running"));
    forge::cross_execution(forged(&[start], "running", "null")).unwrap();
}

/// A step to another state that claims to stay, so that the time of the entry would be that of the
/// last one.
#[test]
fn a_step_that_only_claims_to_stay_is_refused() {
    let mut fact = moved("pending", "start", "running");
    fact["moved"]["stays"] = json!(true);
    refuse(forged(&[("tool_node", fact)], "running", "null"), "does not stay in its state");
}

/// The mark of an entry says whether a visit began, whatever the target is called in the
/// definition: another program may have written it in the other way.
#[test]
fn a_visit_begins_without_the_mark() {
    for (trigger, stays) in [("dim", true), ("dim", false), ("reset", true), ("reset", false)] {
        let mut claim = forge::claim(&Lamp::new());
        let at = claim.journal[0].at + 5;
        let mut fact = moved("on", trigger, "on");
        if stays {
            fact["moved"]["stays"] = json!(true);
        }
        claim.journal.push(forge::entry(1, at, None, lamp::DEFINITION.fingerprint, &fact));
        let found: AnyLamp = forge::cross(claim).unwrap();
        let past = found.journal().summary();
        assert_eq!(past.entered, u64::from(!stays), "{trigger}: {past:?}");
        assert_eq!(past.entered_at == at, !stays, "{trigger}: {past:?}");
        assert_eq!(past.transitions, 1);
    }
}

/// A step that the table does not have.
#[test]
fn an_illegal_step_is_refused() {
    let result = r#"{"result":"x"}"#;
    let skip = ("tool_node", moved("pending", "succeed", "completed"));
    refuse(forged(&[skip], "completed", result), "is not a legal move");

    let start = ("tool_node", moved("pending", "start", "running"));
    let suspend = ("tool_node", moved("running", "suspend", "waiting"));
    let past = ("graph_runner", moved("waiting", "succeed", "completed"));
    refuse(forged(&[start.clone(), suspend, past], "completed", result), "is not a legal move");

    let fail = ("tool_node", moved("running", "fail", "failed"));
    let back = ("tool_node", moved("failed", "start", "running"));
    refuse(forged(&[start, fail, back], "running", "null"), "FAILED is terminal");
}

/// A step whose trigger leads elsewhere, or which does not start in the current state.
#[test]
fn a_step_that_does_not_fit_is_refused() {
    let elsewhere = ("tool_node", moved("pending", "start", "waiting"));
    refuse(forged(&[elsewhere], "waiting", r#"{"prompt":"x"}"#), "is not a legal move");
    let unconnected = ("tool_node", moved("running", "fail", "failed"));
    refuse(forged(&[unconnected], "failed", r#"{"error":"x"}"#), "is not a legal move");
}

/// A step that its actor may not make.
#[test]
fn a_wrong_actor_is_refused() {
    for actor in ["reasoning", "graph_runner", "human", ""] {
        let start = (actor, moved("pending", "start", "running"));
        refuse(forged(&[start], "running", "null"), "may not take");
    }
}

/// Status COMPLETED with a valid seal, but without the journal entries.
#[test]
fn a_status_without_a_journal_is_refused() {
    let claim = forged(&[], "completed", r#"{"result":"x"}"#);
    refuse(claim, "claims `completed`, but its journal ends in `pending`");
}

/// The clock went back: an entry has the time that its clock showed, and the number says which came
/// first.
#[test]
fn a_journal_may_go_back_in_time() {
    let mut claim = forge::claim(&asked("Deploy?"));
    claim.journal[2].at -= 10_000;
    let found = forge::cross_execution(claim).unwrap();
    let past = found.journal().summary();
    assert!(past.entered_at < past.created_at, "{past:?}");
}

/// Created in another state, twice, not first, or not at all.
#[test]
fn a_wrong_creation_is_refused() {
    let mut claim = forge::claim(&asked("Deploy?"));
    let mut fact = serde_json::to_value(&claim.journal[0].fact).unwrap();
    fact["created"]["state"] = "running".into();
    let running = claim.clone();
    let (at, actor) = (claim.journal[0].at, Some("reasoning"));
    claim.journal[0] = forge::entry(0, at, actor, DEFINITION, &fact);
    refuse(claim, "which is not initial");

    fact["created"]["state"] = "pending".into();
    let mut twice = running.clone();
    let last = twice.journal[2].at;
    twice.journal.push(forge::entry(3, last, actor, DEFINITION, &fact));
    refuse(twice, "created twice");

    let mut headless = running.clone();
    headless.journal.remove(0);
    headless.journal.iter_mut().zip(0..).for_each(|(entry, number)| entry.number = number);
    refuse(headless, "does not start with its creation");

    let mut empty = running;
    empty.journal.clear();
    refuse(empty, "it has no journal");
}

/// An epoch that skips a number, or that differs from the journal.
#[test]
fn a_wrong_epoch_is_refused() {
    let fence = |epoch: u64| json!({ "fenced": { "epoch": epoch, "reason": "x" } });
    for (epoch, because) in [(0, "jumps"), (2, "jumps"), (u64::MAX, "jumps")] {
        let mut claim = forged(&[("graph_runner", fence(epoch))], "pending", "null");
        claim.record.epoch = epoch;
        refuse(claim, because);
    }
    let mut claim = forged(&[("graph_runner", fence(1))], "pending", "null");
    refuse(claim.clone(), "claims epoch 0, but its journal has 1");
    claim.record.epoch = 1;
    forge::cross_execution(claim).unwrap();
}

/// EX-5: an irreversible execution that started without its key.
#[test]
fn an_irreversible_start_without_a_hold_is_refused() {
    let claim = forge::claim(&Execution::new(mail("bob")).start(tool_node()));
    let refused = forge::cross_execution(claim);
    assert_err!(refused, VerifyError::Rules { breach, .. } if breach.to_string().contains("begin"));
}

/// A fact that the rules of executions do not know might be a permit or evidence.
#[test]
fn an_unknown_fact_is_refused() {
    let evidence = json!({ "evidence": { "epoch": 0, "evidence": { "applied": "sent" } } });
    for (name, data) in [("other", evidence), ("contract", json!({ "voided": {} }))] {
        let fact = ("tool_node", json!({ "recorded": { "name": name, "data": data } }));
        let refused = forge::cross_execution(forged(&[fact], "pending", "null"));
        assert_err!(refused, VerifyError::Rules { breach, .. }
            if breach.to_string().contains("a fact unknown to this program"));
    }
}
