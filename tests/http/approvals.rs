//! Gates: what people are asked to approve.

use machine_tests::samples::mail;
use serde_json::{Value, json};

use crate::surfaces::{Place, shown, unknown};

const APPROVE: &str = "/api/approvals/approve";

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_is_listed_until_it_is_answered() {
    let place = Place::served_with(|http| http.command("machine --db agent.db")).await;
    let (gate, planned) = place.gate_of(mail("bob@example.com").session("s 1")).await;
    assert_eq!(place.get("/api/health").await["command"], "machine --db agent.db");
    let listed = place.get("/api/approvals").await;
    let approval = &listed["approvals"][0];
    let since = &approval["waiting_since"];
    let step = |verb: &str| {
        json!({ "do": verb, "id": gate.id(),
            "command": format!("{verb} {} --as NAME", gate.id()) })
    };
    let expected = json!({
        "gate": gate.id(), "execution": planned.id(), "question": gate.question(),
        "digest": gate.whole_question().unwrap().digest,
        "summary": approval["summary"], "tool": "email.send", "asked_by": "agent",
        "session": "s 1", "irreversible": true, "waiting_since": since, "expires_at": null,
        "stale": null, "caution": null, "next": [step("approve"), step("decline")],
    });
    assert_eq!(*approval, expected);
    assert_eq!(listed["next"], Value::Null);
    let decided = place.post(APPROVE, &json!({ "gates": [shown(&gate)] })).await.is(200);
    let at = &decided["decided"][0]["at"];
    let expected = json!({ "gate": gate.id(), "execution": planned.id(), "approved": true,
        "by": "ann", "at": at });
    assert_eq!(decided["decided"], json!([expected]));
    assert_eq!(place.get("/api/approvals").await["approvals"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_gates_has_a_size() {
    let place = Place::served().await;
    for _ in 0..4 {
        drop(place.gate("bob@example.com").await);
    }
    // Questions that are not gates wait, too, and take no place of theirs.
    for _ in 0..5 {
        place.question().await;
    }
    let late = place.gate("bob@example.com").await;
    let (mut gates, mut path) = (Vec::new(), "/api/approvals?limit=2".to_owned());
    loop {
        let page = place.get(&path).await;
        let found = page["approvals"].as_array().unwrap();
        assert!((1..=2).contains(&found.len()), "{page}");
        gates.extend(found.iter().map(|one| one["gate"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/approvals?limit=2&after={next}");
    }
    assert_eq!(gates.len(), 5);
    assert_eq!(gates[4], json!(late.0.id()));
}

/// An approver must have the whole text, including long arguments.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_approved_only_as_a_whole() {
    let place = Place::served().await;
    let to = format!("bob@example.com, {} eve@example.com", "x".repeat(20_000));
    let (gate, _) = place.gate(&to).await;
    let listed = place.get("/api/approvals").await;
    let approval = &listed["approvals"][0];
    let question = approval["question"].as_str().unwrap();
    assert!(question.contains("\nNOT SHOWN HERE: 18035 characters of to\n"), "{question}");
    assert!(!question.contains("eve@example.com"), "{question}");
    assert_eq!(approval["digest"], Value::Null);

    let whole = place.get(&format!("/api/approvals/{}", gate.id())).await;
    assert!(whole["question"].as_str().unwrap().contains("eve@example.com"), "{whole}");
    let (other, _) = place.gate("bob@example.com").await;
    for digest in [shown(&other)["digest"].clone(), json!("0".repeat(64))] {
        let body = json!({ "gates": [{ "id": gate.id(), "digest": digest }] });
        let refused = place.post(APPROVE, &body).await;
        refused.problem(409, &format!("`api/approvals/{}` has both", gate.id()));
    }
    let body = json!({ "gates": [{ "id": gate.id(), "digest": "x" }] });
    place.post(APPROVE, &body).await.problem(400, "a digest has 64 hexadecimal digits");
    let body = json!({ "gates": [{ "id": gate.id(), "digest": whole["digest"] }] });
    place.post(APPROVE, &body).await.is(200);

    let answered = place.read(&format!("/api/approvals/{}", gate.id())).await;
    answered.problem(409, "was approved by ann");
    let question = place.question().await;
    place.read(&format!("/api/approvals/{question}")).await.problem(409, "not a gate");
    place.read(&format!("/api/approvals/{}", unknown())).await.problem(404, "");
}
