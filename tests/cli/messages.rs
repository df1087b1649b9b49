//! Messages to machines of the program's own, as people read them. The acts themselves are in
//! `surfaces::acts`.

use machine::store::Message;
use machine_tests::actors::ann;
use serde_json::json;

use crate::surfaces::{AnyOrder, Place, end};

#[tokio::test]
async fn a_worker_applies_what_a_person_sends() {
    let place = Place::new().await;
    let id = place.order().await;
    place.run(&["show", &end(id)]).shows(&[&format!("send {id} confirm --as NAME")]);
    let sent = ["send", &end(id), "confirm", "--as", "ann", "--payload", r#"{"amount": 3}"#];
    let document = place.json(&[&sent[..], &["--correlation", "form-17"]].concat());
    assert_eq!(document, json!({ "id": id, "correlation": "form-17", "warning": null }));
    place.run(&[&sent[..], &["--correlation", "form-17"]].concat()).failed(1, "nothing was sent");
    for wrong in ["[]", "{"] {
        let words = ["send", &end(id), "confirm", "--as", "ann", "--payload", wrong];
        place.run(&words).failed(2, "the payload is not a JSON object");
    }
    let early = place.run(&["send", &end(id), "accept", "--as", "ann", "--early"]);
    early.shows(&["does not accept `accept`"]);
    let inbox = place.run(&["show", &end(id)]);
    inbox.shows(&["form-17", "by ann", "answered     with `confirm`"]);
    assert!(!inbox.out.contains("human ann") && !inbox.out.contains("--as NAME"), "{inbox:?}");
    let attention = place.run(&["list", "--attention-only"]);
    attention.shows(&["not applied yet"]);
    let concern = &place.json(&["list", "--attention-only"])["attention"]["concerns"][0];
    assert_eq!(concern["answered_with"], "confirm", "{concern}");
    let show = json!([{ "do": "show", "id": id, "command": format!("show {id}") }]);
    assert_eq!(concern["next"], show, "{concern}");

    place.work().await;
    let order = place.store.load::<AnyOrder>(id).await.unwrap();
    assert!(matches!(order, AnyOrder::Paid(_)), "{order:?}");
    let timeline = place.run(&["timeline", &end(id), "--audience", "diagnostic"]);
    timeline.shows(&["human human ann"]);
    assert_eq!(place.json(&["show", &end(id)])["answered_with"], json!(null));
}

/// A person corrects it under its id, or brings it back by the command that is offered, which
/// `surfaces::printed` runs.
#[tokio::test]
async fn a_message_that_was_set_aside_is_corrected() {
    let place = Place::new().await;
    let (id, message) = place.set_aside().await;
    let other = end(place.order().await);
    let both = ["requeue", &end(id), &other, "--as", "ann", "--message", &message];
    place.run(&both).failed(2, "give one id");
    let right = ["send", &end(id), "confirm", "--as", "ann", "--correlation", &message];
    place.run(&[&right[..], &["--payload", r#"{"amount": 3}"#]].concat()).done();
    place.run(&["show", &end(id)]).shows(&["replaced"]);
    assert!(!place.run(&["list"]).done().contains("requeue"));
}

/// A message to a machine that has ended needs no attention, as no action on it is possible.
#[tokio::test]
async fn a_message_that_came_too_late_needs_no_attention() {
    let place = Place::new().await;
    let id = place.order().await;
    for _ in 0..2 {
        place.run(&["cancel", &end(id), "--as", "ann", "--reason", "enough"]).done();
    }
    place.work().await;
    let shown = place.json(&["show", &end(id)]);
    assert!(shown["messages"].to_string().contains("set_aside"), "{shown}");
    let attention = place.json(&["list", "--attention-only"]);
    assert_eq!(attention["attention"]["concerns"], json!([]), "{attention}");
}

/// A message for a state that the machine has left is not shown as one that waits.
#[tokio::test]
async fn late_messages_are_shown_as_not_applied() {
    let place = Place::new().await;
    let id = place.order().await;
    for body in
        [r#"{"trigger": "confirm", "amount": 3}"#, r#"{"trigger": "cancel", "reason": "no"}"#]
    {
        let message = Message::from_json(body, ann()).unwrap().unless_moved(0);
        place.store.send(id, &message).await.unwrap();
    }
    place.work().await;
    let shown = place.run(&["show", &end(id)]);
    assert!(shown.done().contains("not applied │"), "{shown:?}");
    assert!(shown.out.contains("the machine had moved on"), "{shown:?}");
}
