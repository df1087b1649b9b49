//! Requests that name a machine twice, or that say nothing.

use machine::{
    Id,
    effects::Resume,
    operate::{ErrorKind, Operator, SendOptions},
    view::Label,
};
use machine_tests::actors::ann;
use serde_json::json;

use super::{Place, actors, end};

impl Place {
    /// The number of lines in the operator log, with the act, the machines and the outcome of the
    /// newest one.
    async fn newest_line(&self) -> (u64, String, Vec<Id>, String) {
        let line = self.store.operations(1, None).await.unwrap().items.remove(0).unwrap();
        (line.number, line.operation, line.machines, line.outcome.unwrap())
    }
}

/// It is one machine for the act and for its line, wherever it is named again.
#[tokio::test]
async fn a_machine_that_is_named_twice_is_one() {
    let place = Place::new().await;
    let actors = actors();
    let operator = Operator::new(&place.store, &actors, ann(), "cli");
    let done = |number, operation: &str, machines: &[Id]| {
        (number, operation.to_owned(), machines.to_vec(), "done".to_owned())
    };

    let question = place.question().await;
    let cancelled = operator.cancel(&[question, question], None).await.unwrap();
    assert_eq!(cancelled.iter().map(|one| one.id).collect::<Vec<_>>(), [question]);
    assert_eq!(place.newest_line().await, done(1, "cancel", &[question]));

    let (order, pending) = (place.order().await, place.pending("ann@example.com").await);
    let cancelled = operator.cancel(&[pending, order, pending], None).await.unwrap();
    assert_eq!(cancelled.iter().map(|one| one.id).collect::<Vec<_>>(), [pending, order]);
    assert_eq!(place.newest_line().await, done(3, "cancel", &[order]));

    let (gate, _) = place.gate("bob@example.com").await;
    let (other, _) = place.gate("carl@example.com").await;
    let (gate, other) = (gate.id(), other.id());
    let gates = operator.gates("decline", &[gate, other, gate]).await.unwrap();
    let declined = operator.decline(gates, None).await.unwrap();
    assert_eq!(declined.iter().map(|one| one.gate).collect::<Vec<_>>(), [gate, other]);
    assert_eq!(place.newest_line().await, done(4, "decline", &[gate, other]));

    // It was sent a message, by line 5.
    let (aside, message) = place.set_aside().await;
    operator.requeue(&[aside, aside], &[message]).await.unwrap();
    assert_eq!(place.newest_line().await, done(6, "requeue", &[aside]));
}

/// An answer without text is no answer; its question waits as before.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_is_refused() {
    let place = Place::served().await;
    let actors = actors();
    let operator = Operator::new(&place.store, &actors, ann(), "cli");
    let id = place.question().await;
    let refused = |number| {
        let outcome = "refused: the response is empty; give an answer";
        (number, "respond".to_owned(), vec![id], outcome.to_owned())
    };

    let question = operator.question("respond", id, Resume::default()).await.unwrap();
    let error = operator.respond(question, "").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(place.newest_line().await, refused(1));
    place.run(&["respond", &end(id), "", "--as", "ann"]).failed(2, "the response is empty");
    assert_eq!(place.newest_line().await, refused(2));
    let body = json!({ "execution_id": id, "response": "" });
    place.post("/ecs/respond", &body).await.problem(400, "the response is empty");
    assert_eq!(place.newest_line().await, refused(3));

    assert_eq!(place.label(id).await, Label::Waiting);
    place.run(&["respond", &end(id), "8080", "--as", "ann"]).done();
    assert_eq!(place.label(id).await, Label::Success);
}

/// A payload that cannot be read is a refused act; about an unknown machine it is none.
#[tokio::test]
async fn a_payload_that_is_not_json_is_logged() {
    let place = Place::new().await;
    let actors = actors();
    let operator = Operator::new(&place.store, &actors, ann(), "cli");
    let id = place.order().await;
    for (number, wrong) in (1..).zip(["", "{", "[]", "null"]) {
        let sent = operator.send_text(id, "confirm", wrong, SendOptions::default()).await;
        let error = sent.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let outcome = format!("refused: {error}");
        assert_eq!(place.newest_line().await, (number, "send".to_owned(), vec![id], outcome));
    }
    let unknown = super::unknown();
    let sent = operator.send_text(unknown, "confirm", "{", SendOptions::default()).await;
    assert_eq!(sent.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(place.newest_line().await.0, 4);
    assert!(place.store.inbox(id).await.unwrap().is_empty());
    let sent = operator.send_text(id, "confirm", r#"{"amount": 3}"#, SendOptions::default()).await;
    sent.unwrap();
}
