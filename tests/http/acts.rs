//! Acts on machines, and the answers when they are refused.

use machine::{Id, contract::AnyExecution, view::Label};
use machine_tests::{
    actors::tool_node,
    samples::{mail, pending_mail},
};
use serde_json::{Value, json};

use crate::http::support::{Answer, Place, unknown};

impl Place {
    async fn act(&self, id: Id, act: &str, body: &Value) -> Answer {
        self.post(&format!("/api/machines/{id}/{act}"), body).await
    }

    async fn label(&self, id: Id) -> Label {
        Label::of(&self.store.load::<AnyExecution>(id).await.unwrap())
    }

    /// A running call, whose worker is this process.
    async fn running(&self, to: &str) -> Id {
        let mut pending = pending_mail(to);
        self.store.create(&mut pending).await.unwrap();
        let (running, permit) = self.store.begin(pending, tool_node()).await.unwrap();
        let id = running.id();
        drop((running, permit));
        id
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doubt_is_confirmed() {
    let place = Place::new().await;
    let id = place.doubt("bob@example.com").await;
    place.act(id, "confirm", &json!({ "applied": true, "receipt": "seen" })).await.is(200);
    assert_eq!(place.label(id).await, Label::Success);
    let snapshot = place.get(&format!("/api/execution/{id}/snapshot")).await;
    assert_eq!(snapshot["result"], "seen");
    let id = place.doubt("ann@example.com").await;
    // Its worker is alive, so only a person who takes responsibility settles it.
    let not_applied = json!({ "applied": false, "reason": "no mail" });
    let refused = place.act(id, "confirm", &not_applied).await;
    assert!(refused.status == 409 || refused.status == 200, "{refused:?}");
    let id = place.doubt("cid@example.com").await;
    let overridden = json!({ "applied": false, "override": true, "reason": "no mail" });
    place.act(id, "confirm", &overridden).await.is(200);
    assert_eq!(place.label(id).await, Label::Failed);
    let again = place.act(id, "confirm", &overridden).await;
    let problem = again.problem(409, "not in doubt");
    assert_eq!(problem["next"][0]["do"], "retry", "{problem}");
    for (body, text) in [
        (json!({ "applied": true, "reason": "x" }), "receipt"),
        (json!({ "applied": true, "override": true }), "receipt"),
        (json!({ "applied": false, "receipt": "x" }), "receipt"),
        (json!({}), "applied"),
        (json!({ "applied": "yes" }), "boolean"),
        (json!({ "applied": true, "more": 1 }), "more"),
    ] {
        place.act(id, "confirm", &body).await.problem(400, text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_is_tried_again() {
    let place = Place::new().await;
    let id = place.failed("bob@example.com").await;
    let retried = place.act(id, "retry", &json!({})).await.is(200);
    let attempt: Id = retried["attempt"].as_str().unwrap().parse().unwrap();
    assert_eq!((&retried["id"], place.label(attempt).await), (&json!(id), Label::NotStarted));
    let problem = place.act(attempt, "retry", &json!({})).await.problem(409, "not FAILED");
    let triggers: Vec<_> =
        problem["legal_moves"].as_array().unwrap().iter().map(|it| &it["trigger"]).collect();
    assert!(triggers.contains(&&json!("start")), "{problem}");
    assert!(problem["next"].is_array());
    place.act(id, "retry", &json!({ "more": 1 })).await.problem(400, "more");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_needed_is_cancelled() {
    let place = Place::new().await;
    let question = place.question().await;
    let cancelled = place.act(question, "cancel", &json!({ "reason": "late" })).await.is(200);
    assert_eq!(cancelled, json!({ "id": question, "how": "at_once" }));
    assert_eq!(place.label(question).await, Label::Cancelled);
    let (gate, planned) = place.gate("bob@example.com").await;
    place.act(gate.id(), "cancel", &json!({})).await.is(200);
    assert_eq!(place.label(gate.id()).await, Label::Cancelled);
    drop(planned);
    let order = place.order().await;
    let cancelled = place.act(order, "cancel", &json!({ "reason": "late" })).await.is(200);
    assert_eq!(cancelled["how"], "message");
    let shown = place.get(&format!("/api/machines/{order}?audience=internal")).await;
    assert_eq!(shown["messages"][0]["body"]["reason"], "late", "{shown}");
    assert_eq!(shown["messages"][0]["actor_name"], "ann");
    for (id, text) in [
        (question, "nothing to cancel"),
        (place.doubt("doubt@example.com").await, "in doubt"),
        (place.running("running@example.com").await, "is running"),
    ] {
        let problem = place.act(id, "cancel", &json!({})).await.problem(409, text);
        assert!(problem["legal_moves"].is_array() && problem["next"].is_array(), "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_shut_out() {
    let place = Place::new().await;
    let id = place.running("bob@example.com").await;
    let fenced = place.act(id, "fence", &json!({ "reason": "it hangs" })).await.is(200);
    assert!(fenced["question"].as_str().unwrap().contains("bob@example.com"), "{fenced}");
    assert_eq!(place.label(id).await, Label::InDoubt);
    let sent = place.sent(mail("ann@example.com")).await;
    place.act(sent, "fence", &json!({})).await.problem(409, "COMPLETED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_kept_for_its_program() {
    let place = Place::new().await;
    let id = place.order().await;
    let confirm = json!({ "trigger": "confirm", "payload": { "amount": 5 }, "correlation": "c 1" });
    let sent = place.act(id, "send", &confirm).await.is(202);
    assert_eq!(sent, json!({ "id": id, "correlation": "c 1", "warning": null }));
    place.act(id, "send", &confirm).await.problem(409, "nothing was sent");
    let other = json!({ "trigger": "confirm", "payload": { "amount": 6 }, "correlation": "c 1" });
    place.act(id, "send", &other).await.problem(409, "send it with another id");
    let mut accept = json!({ "trigger": "accept" });
    place.act(id, "send", &accept).await.problem(409, "a later question, which you have not seen");
    accept["early"] = true.into();
    let early = place.act(id, "send", &accept).await.is(202);
    assert!(early["warning"].as_str().unwrap().contains("does not take `accept`"), "{early}");
    for (body, text) in [
        (json!({ "trigger": "fly" }), "takes `fly`"),
        (json!({ "trigger": "confirm" }), "needs `amount`"),
        (json!({ "trigger": "confirm", "payload": { "amount": "5" } }), "another type"),
        (json!({ "trigger": "confirm", "payload": { "amount": 5, "x": 1 } }), "does not take `x`"),
    ] {
        let answer = place.act(id, "send", &body).await;
        // D4: what can be corrected and sent again is told apart; before, all of them were 409.
        let status = if text == "takes `fly`" { 409 } else { 422 };
        let problem = answer.problem(status, text);
        assert_eq!(problem["legal_moves"][0]["trigger"], "confirm", "{problem}");
    }
    for (body, text) in [
        (json!({}), "trigger"),
        (json!({ "trigger": "confirm", "payload": [] }), "map"),
        (json!({ "trigger": "confirm", "payload": { "amount": 5 }, "correlation": "" }), ""),
        (
            json!({ "trigger": "confirm", "payload": { "amount": 5 }, "correlation": "x".repeat(5000) }),
            "",
        ),
    ] {
        place.act(id, "send", &body).await.problem(400, text);
    }
    place.act(id, "requeue", &json!({ "messages": ["nothing"] })).await.problem(409, "no message");
    place.act(id, "requeue", &json!({})).await.problem(409, "nothing of it was set aside");
    let (id, message) = place.set_aside().await;
    let next = place.get(&format!("/api/machines/{id}")).await["next"][0].clone();
    assert_eq!((&next["do"], &next["messages"]), (&json!("requeue"), &json!([message])));
    let problem = place.act(id, "requeue", &json!({})).await.problem(409, "name them");
    assert!(problem["detail"].as_str().unwrap().contains(&message), "{problem}");
    place.act(id, "requeue", &json!({ "messages": [message] })).await.is(200);
    let queued = json!({ "messages": [message] });
    place.act(id, "requeue", &queued).await.problem(409, "is queued, not set aside");
}

/// Other kinds have other moves, and the answer says which.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_for_executions_is_refused_for_other_kinds() {
    let place = Place::new().await;
    let id = place.order().await;
    for (act, body) in
        [("confirm", json!({ "applied": true })), ("retry", json!({})), ("fence", json!({}))]
    {
        let problem =
            place.act(id, act, &body).await.problem(409, "is of the kind `order`, in ASKING");
        assert_eq!(problem["next"][0]["do"], "send", "{problem}");
        assert_eq!(problem["legal_moves"][0]["trigger"], "confirm", "{act}: {problem}");
    }
}

/// An answer is for the state that the person has seen.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_names_the_state_that_it_is_for() {
    let place = Place::new().await;
    let id = place.order().await;
    let shown = place.get(&format!("/api/machines/{id}")).await;
    let step = &shown["next"][0];
    assert_eq!((&step["trigger"], &step["seen"]), (&json!("confirm"), &json!(0)));
    assert!(step["command"].as_str().unwrap().contains("--seen 0"), "{step}");
    let answer =
        |seen: u64| json!({ "trigger": "confirm", "payload": { "amount": 5 }, "seen": seen });
    let problem = place
        .act(id, "send", &answer(1))
        .await
        .problem(409, "has not made 1 transitions yet, only 0");
    assert_eq!(problem["legal_moves"][0]["trigger"], "confirm", "{problem}");
    assert!(place.store.inbox(id).await.unwrap().is_empty());
    let mut whole = answer(0);
    whole["seen"] = json!(0.0);
    place.act(id, "send", &whole).await.is(202);
    whole["seen"] = json!(0.5);
    place.act(id, "send", &whole).await.problem(400, "not a whole number");
    // Without the number it is for the state that it finds, because that waits.
    let other = place.order().await;
    let confirm = json!({ "trigger": "confirm", "payload": { "amount": 6 } });
    place.act(other, "send", &confirm).await.is(202);
    for id in [id, other] {
        // The second person is told who answered first.
        place.act(id, "send", &confirm).await.problem(409, "has already answered");
        let inbox = place.store.inbox(id).await.unwrap();
        let seen: Vec<_> = inbox.into_iter().map(|message| message.unwrap().seen).collect();
        assert_eq!(seen, [Some(0)]);
    }
    let attention = place.get("/api/attention").await;
    assert_eq!(attention["concerns"][0]["answered_with"], "confirm", "{attention}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_is_not_there_is_not_found() {
    let place = Place::new().await;
    for (act, body) in [
        ("confirm", json!({ "applied": true })),
        ("retry", json!({})),
        ("cancel", json!({})),
        ("fence", json!({})),
        ("requeue", json!({})),
        ("send", json!({ "trigger": "x" })),
    ] {
        place.act(unknown(), act, &body).await.problem(404, "");
        let path = format!("/api/machines/nothing/{act}");
        place.post(&path, &body).await.problem(404, "not a valid id");
    }
}
