//! The bodies of acts, and the fields of their answers. The acts themselves are in
//! `surfaces::acts`.

use machine::{Id, contract::Contract};
use machine_tests::actors::reasoning_node;
use serde_json::{Value, json};

use crate::surfaces::{Place, execution, shown, unknown};

fn of(id: Id, act: &str) -> String {
    format!("/api/machines/{id}/{act}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_fit_its_act_is_malformed() {
    let place = Place::served().await;
    let (doubt, failed) =
        (place.doubt("bob@example.com").await, place.failed("eve@example.com").await);
    let (order, question) = (place.order().await, place.question().await);
    let (gate, _) = place.gate("zoe@example.com").await;
    let confirm = |more: &[(&str, Value)]| {
        let mut body = json!({ "trigger": "confirm", "payload": { "amount": 5 } });
        for (name, value) in more {
            body[*name] = value.clone();
        }
        body
    };
    let gates = |gates: Value| ("/api/approvals/approve".to_owned(), json!({ "gates": gates }), "");
    for (path, body, text) in [
        (of(doubt, "confirm"), json!({ "applied": true, "reason": "x" }), "receipt"),
        (of(doubt, "confirm"), json!({ "applied": true, "override": true }), "receipt"),
        (of(doubt, "confirm"), json!({ "applied": false, "receipt": "x" }), "receipt"),
        (of(doubt, "confirm"), json!({}), "applied"),
        (of(doubt, "confirm"), json!({ "applied": "yes" }), "boolean"),
        (of(doubt, "confirm"), json!({ "applied": true, "more": 1 }), "more"),
        (of(failed, "retry"), json!({ "more": 1 }), "more"),
        (of(order, "send"), json!({}), "trigger"),
        (of(order, "send"), confirm(&[("payload", json!([]))]), "map"),
        (of(order, "send"), confirm(&[("correlation", json!(""))]), ""),
        (of(order, "send"), confirm(&[("correlation", json!("x".repeat(5000)))]), ""),
        (of(order, "send"), confirm(&[("seen", json!(0.5))]), "not a whole number"),
        ("/ecs/respond".to_owned(), json!({ "execution_id": question, "response": "" }), "empty"),
        gates(json!([])),
        gates(json!(vec![shown(&gate); 101])),
        gates(json!(["x"])),
        gates(json!([1])),
        gates(json!("x")),
        gates(Value::Null),
        (gates(Value::Null).0, json!({ "gates": [{ "id": gate.id() }] }), "missing field `digest`"),
    ] {
        place.post(&path, &body).await.problem(400, text);
    }
    place.post(&of(order, "send"), &confirm(&[("seen", json!(0.0))])).await.is(202);
    for act in ["confirm", "retry", "cancel", "fence", "requeue", "send", "acknowledge"] {
        let body = match act {
            "confirm" => json!({ "applied": true }),
            "send" => json!({ "trigger": "x" }),
            _ => json!({}),
        };
        let path = format!("/api/machines/nothing/{act}");
        place.post(&path, &body).await.problem(404, "not a valid id");
    }
    let body = execution(unknown());
    place.post("/ecs/continue", &body).await.problem(404, "no machine");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_an_act_has_these_fields() {
    let place = Place::served().await;
    let nothing = json!({});
    let failed = place.failed("bob@example.com").await;
    let retried = place.post(&of(failed, "retry"), &nothing).await.is(200);
    assert_eq!(retried, json!({ "id": failed, "attempt": retried["attempt"] }));
    let (question, order) = (place.question().await, place.order().await);
    let cancelled = place.post(&of(question, "cancel"), &nothing).await.is(200);
    assert_eq!(cancelled, json!({ "id": question, "how": "at_once" }));
    assert_eq!(place.post(&of(order, "cancel"), &nothing).await.is(200)["how"], "message");
    let running = place.running("eve@example.com").await;
    let fenced = place.post(&of(running, "fence"), &nothing).await.is(200);
    assert!(fenced["question"].as_str().unwrap().contains("eve@example.com"), "{fenced}");

    let order = place.order().await;
    let confirm = json!({ "trigger": "confirm", "payload": { "amount": 5 }, "correlation": "c 1" });
    let sent = place.post(&of(order, "send"), &confirm).await.is(202);
    assert_eq!(sent, json!({ "id": order, "correlation": "c 1", "warning": null }));
    let other = json!({ "trigger": "confirm", "payload": { "amount": 6 }, "correlation": "c 1" });
    place.post(&of(order, "send"), &other).await.problem(409, "send it with another id");
    let early = json!({ "trigger": "accept", "early": true });
    let early = place.post(&of(order, "send"), &early).await.is(202);
    assert!(early["warning"].as_str().unwrap().contains("does not accept `accept`"), "{early}");
    // Values that can be corrected, and a refused move.
    for (body, status) in
        [(json!({ "trigger": "confirm" }), 422), (json!({ "trigger": "fly" }), 409)]
    {
        let problem = place.post(&of(order, "send"), &body).await.problem(status, "");
        assert_eq!(problem["legal_moves"][0]["trigger"], "confirm", "{problem}");
    }
    let other = place.order().await;
    let problem = place.post(&of(other, "retry"), &nothing).await.problem(409, "");
    assert_eq!(problem["next"][0]["do"], "send", "{problem}");
    let step = &place.get(&format!("/api/machines/{other}")).await["next"][0];
    assert_eq!((&step["trigger"], &step["seen"]), (&json!("confirm"), &json!(0)));
    assert!(step["command"].as_str().unwrap().contains("--seen 0"), "{step}");
    let (aside, message) = place.set_aside().await;
    let step = &place.get(&format!("/api/machines/{aside}")).await["next"][0];
    assert_eq!((&step["do"], &step["messages"]), (&json!("requeue"), &json!([message])));
}

/// Checks the age limit of a question, and the number that are continued (EX-7).
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_continued_with_checks() {
    let place = Place::served().await;
    let asked = || Contract::ecs_request("Which port?", reasoning_node()).unwrap().session("s 1");
    let (id, _other) = (place.question_of(asked()).await, place.question_of(asked()).await);
    let answer = json!({ "execution_id": id, "response": "8080" });
    let stored = place.post("/ecs/respond", &answer).await.is(200);
    assert_eq!(stored, json!({ "execution_id": id, "status": "waiting" }));
    // It has waited for longer than the answer is old.
    while machine::clock::now() <= place.store.history(id).await.unwrap().entries[2].at {
        tokio::task::yield_now().await;
    }
    let body = json!({ "execution_id": id, "max_age_ms": 0 });
    place.post("/ecs/continue", &body).await.problem(409, "the limit is 0 ms");
    let body = json!({ "execution_id": id, "max_age_ms": 86_400_000, "resuming": 1 });
    let done = place.post("/ecs/continue", &body).await.is(200);
    assert!(done["age_ms"].is_u64(), "{done}");
    let warning = "the caller resumes 1 of the session, but 2 were waiting";
    let expected = json!({
        "execution_id": id, "status": "completed", "age_ms": done["age_ms"], "warnings": [warning],
    });
    assert_eq!(done, expected);
}
