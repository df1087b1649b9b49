//! Messages to machines of the program's own.

use std::process::{Output, Stdio};

use machine::{
    actor::{Actors, Human},
    store::{Delivery, Message},
    worker::{Failure, Handler, Next, Task, Worker},
};
use machine_tests::samples::pending_mail;
use serde_json::json;

use crate::cli::support::{AnyOrder, Place, end};

/// Every state waits for messages.
struct Waits;

impl Handler for Waits {
    type Machine = AnyOrder;

    async fn handle(&self, _: AnyOrder, _: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        Ok(Next::Wait)
    }
}

async fn work(place: &Place) {
    let worker = Worker::new(&place.store, Actors::issue("shop").unwrap()).handler(Waits);
    worker.run_until_idle().await.unwrap();
}

#[tokio::test]
async fn a_worker_applies_what_a_person_sends() {
    let place = Place::new().await;
    let id = place.order().await;
    let shown = place.run(&["show", &end(id)]);
    assert!(shown.done().contains(&format!("send {id} confirm --as NAME")), "{shown:?}");
    let sent = ["send", &end(id), "confirm", "--as", "ann", "--payload", r#"{"amount": 3}"#];
    let document = place.json(&[&sent[..], &["--correlation", "form-17"]].concat());
    assert_eq!(document["correlation"], "form-17");
    assert_eq!(document["warning"], json!(null));
    place.run(&[&sent[..], &["--correlation", "form-17"]].concat()).failed(1, "nothing was sent");
    // It waits for its state, if a person says so.
    let accept = ["send", &end(id), "accept", "--as", "ann"];
    place.run(&accept).failed(1, "a later question, which you have not seen");
    let early = place.run(&[&accept[..], &["--early"]].concat());
    assert!(early.done().contains("does not take `accept`"), "{early:?}");
    let inbox = place.run(&["show", &end(id)]);
    assert!(inbox.done().contains("form-17"), "{inbox:?}");
    assert!(inbox.out.contains("by ann") && !inbox.out.contains("human ann"), "{inbox:?}");

    work(&place).await;
    let order = place.store.load::<AnyOrder>(id).await.unwrap();
    assert!(matches!(order, AnyOrder::Paid(_)), "{order:?}");
    let timeline = place.run(&["timeline", &end(id), "--audience", "diagnostic"]);
    assert!(timeline.done().contains("human human ann"), "{timeline:?}");
    place.run(&sent).failed(1, "is PAID, so it takes no more messages");
}

#[tokio::test]
async fn what_was_seen_is_the_state_of_now() {
    let place = Place::new().await;
    let id = end(place.order().await);
    let confirm = ["send", &id, "confirm", "--as", "ann", "--payload", r#"{"amount": 3}"#];
    place.run(&[&confirm[..], &["--seen", "0"]].concat()).done();
    work(&place).await;
    let accept = |seen| place.run(&["send", &id, "accept", "--as", "ann", "--seen", seen]);
    accept("0").failed(1, "has moved on since you looked at it");
    accept("99").failed(1, "has not made 99 transitions yet, only 1; nothing was sent");
    accept("1").done();
}

#[tokio::test]
async fn what_no_state_takes_is_not_sent() {
    let place = Place::new().await;
    let id = place.order().await;
    let send = |trigger: &str, payload: &str| {
        place.run(&["send", &end(id), trigger, "--as", "ann", "--payload", payload])
    };
    send("ship", "{}")
        .failed(1, "no state of `order` takes `ship`; now a person can send `confirm`");
    send("audit", "{}").failed(1, "`audit` is not for people, only for `graph_runner`");
    send("confirm", "{}").failed(1, "`confirm` needs `amount`; it takes amount: u32");
    send("confirm", r#"{"amount": 1, "to\u001bx": 2}"#).failed(1, r"does not take `to\u{1b}x`");
    send("confirm", "[]").failed(2, "the payload is not a JSON object");
    send("confirm", "{").failed(2, "the payload is not a JSON object");
    send("trigger", r#"{"trigger": "confirm"}"#).failed(1, "no state");
    assert_eq!(place.store.inbox(id).await.unwrap().len(), 0);

    let mut mail = pending_mail("bob@example.com");
    place.store.create(&mut mail).await.unwrap();
    let ran = place.run(&["send", &end(mail.id()), "succeed", "--as", "ann"]);
    ran.failed(1, "not for people");
}

#[tokio::test]
async fn an_order_is_cancelled_by_a_message() {
    let place = Place::new().await;
    let id = place.order().await;
    let document = place.json(&["cancel", &end(id), "--as", "ann", "--reason", "too late"]);
    assert_eq!(document["cancelled"][0]["how"], "message");
    work(&place).await;
    let AnyOrder::Cancelled(order) = place.store.load::<AnyOrder>(id).await.unwrap() else {
        panic!("it was not cancelled")
    };
    assert_eq!(order.state().reason, "too late");
}

#[tokio::test]
async fn a_message_that_was_set_aside_is_requeued() {
    let place = Place::new().await;
    let id = place.order().await;
    // A value of the wrong type is not even sent.
    let wrong = [
        "send",
        &end(id),
        "confirm",
        "--as",
        "ann",
        "--payload",
        r#"{"amount": "three", "note": "n"}"#,
    ];
    place.run(&wrong).failed(1, "`confirm` takes another type as `amount`");
    // A program may send it all the same.
    let ann = Human::new("ann").unwrap();
    let body = r#"{"trigger": "confirm", "amount": "three"}"#;
    let message = Message::from_json(body, &ann).unwrap();
    place.store.send(id, &message.with_correlation("form-17").unwrap()).await.unwrap();
    work(&place).await;
    let status = async || {
        let inbox = place.store.inbox(id).await.unwrap();
        inbox[0].as_ref().unwrap().status
    };
    assert_eq!(status().await, Delivery::SetAside);
    let listed = place.run(&["list"]);
    assert!(listed.done().contains("set aside"), "{listed:?}");
    assert!(listed.out.contains(&format!("requeue {}", &end(id)[4..])), "{listed:?}");
    // The command that is offered works as it is.
    let shown = place.run(&["show", &end(id)]);
    let command = format!("requeue {id} --as NAME --message=form-17");
    assert!(shown.done().contains(&command), "{shown:?}");
    place
        .run(&["requeue", &end(id), "--as", "ann", "--message", "form-18"])
        .failed(1, "has no message `form-18`");
    assert_eq!(status().await, Delivery::SetAside);
    place.run(&["requeue", &end(id), "--as", "ann"]).failed(1, &format!("name them: `{command}`"));
    let offered: Vec<_> = command.split(' ').collect();
    place.run(&offered).done();
    assert_eq!(status().await, Delivery::Queued);
    place.run(&offered).failed(1, "the message `form-17` to");
    let other = place.order().await;
    place
        .run(&["requeue", &end(id), &end(other), "--as", "ann", "--message", "form-17"])
        .failed(2, "give one id");
    let ran = place.run(&["requeue", &end(id), &end(other), "--as", "ann"]);
    ran.failed(1, &format!("nothing of it was set aside, so {id} has nothing to try again"));
    place.run(&["cancel", &end(other), "--as", "ann"]).done();
    work(&place).await;
    place
        .run(&["requeue", &end(other), "--as", "ann"])
        .failed(1, "is CANCELLED, which is never left");
}

/// A command for executions of the library says what the machine is, and which command applies.
#[tokio::test]
async fn a_machine_of_another_kind_is_moved_by_messages() {
    let place = Place::new().await;
    let id = place.order().await;
    for arguments in [
        &["approve", &*end(id), "--yes"][..],
        &["decline", &end(id), "--yes"],
        &["confirm", &end(id), "applied", "--yes"],
        &["retry", &end(id), "--yes"],
        &["respond", &end(id), "yes"],
        &["fence", &end(id)],
    ] {
        let ran = place.run(&[arguments, &["--as", "ann"]].concat());
        ran.failed(1, "is of the kind `order`, in ASKING");
        assert!(ran.err.contains(&format!("instead: `send {id} confirm --as NAME")), "{ran:?}");
    }
    let operations = place.store.operations(10, None).await.unwrap();
    assert_eq!(operations.items.len(), 6, "{operations:?}");
}

/// A message to a machine that has ended needs no attention, as no action on it is possible.
#[tokio::test]
async fn a_message_that_came_too_late_needs_no_attention() {
    let place = Place::new().await;
    let id = place.order().await;
    for _ in 0..2 {
        place.run(&["cancel", &end(id), "--as", "ann", "--reason", "enough"]).done();
    }
    work(&place).await;
    let shown = place.json(&["show", &end(id)]);
    assert!(shown["messages"].to_string().contains("set_aside"), "{shown}");
    let attention = place.json(&["list", "--attention-only"]);
    assert_eq!(attention["attention"]["concerns"], json!([]), "{attention}");
}

/// Two people answer the same question: the second learns who was first, and everybody sees the answer.
#[tokio::test]
async fn a_question_is_answered_once() {
    let place = Place::new().await;
    let id = place.order().await;
    let yes = ["send", &*end(id), "confirm", "--payload", r#"{"amount": 3}"#];
    let no = ["send", &*end(id), "cancel", "--payload", r#"{"reason": "no!"}"#];
    place.run(&[&yes[..], &["--seen", "0", "--as", "ann"]].concat()).done();
    for (second, seen) in [(no, &["--seen", "0"][..]), (no, &[]), (yes, &["--seen", "0"])] {
        let second = place.run(&[&second[..], seen, &["--as", "bob"]].concat());
        second.failed(1, "ann has already answered");
        assert!(second.err.contains("with `confirm`"), "{second:?}");
    }
    let shown = place.run(&["show", &end(id)]);
    assert!(shown.done().contains("answered     with `confirm`"), "{shown:?}");
    assert!(!shown.out.contains("--as NAME"), "{shown:?}");
    let concerns = place.json(&["list", "--attention-only"])["attention"]["concerns"].clone();
    assert_eq!(concerns[0]["answered_with"], "confirm", "{concerns}");
    assert_eq!(
        concerns[0]["next"],
        json!([{ "do": "show", "id": id, "command": format!("show {id}") }]),
        "{concerns}"
    );
    let listed = place.run(&["list", "--attention-only"]);
    assert!(listed.done().contains("not applied yet"), "{listed:?}");

    work(&place).await;
    let shown = place.json(&["show", &end(id)]);
    assert_eq!(shown["answered_with"], json!(null));
    assert_eq!(shown["machine"]["label"], "PAYING");
    place.run(&["send", &end(id), "accept", "--seen", "1", "--as", "bob"]).done();
}

/// An answer that does not fit does not prevent another one.
#[tokio::test]
async fn an_answer_that_was_not_applied_is_given_again() {
    let place = Place::new().await;
    let id = place.order().await;
    let body = r#"{"trigger": "confirm", "amount": "three"}"#;
    let message = Message::from_json(body, &Human::new("ann").unwrap()).unwrap().unless_moved(0);
    place.store.send(id, &message).await.unwrap();
    let cancel = ["send", &*end(id), "cancel", "--as", "bob", "--payload", r#"{"reason": "no!"}"#];
    place.run(&cancel).failed(1, "ann has already answered");
    work(&place).await;
    place.run(&cancel).done();
}

/// A message for a state that the machine has left is not shown as one that waits.
#[tokio::test]
async fn what_came_too_late_is_shown_as_not_applied() {
    let place = Place::new().await;
    let id = place.order().await;
    let ann = Human::new("ann").unwrap();
    for body in
        [r#"{"trigger": "confirm", "amount": 3}"#, r#"{"trigger": "cancel", "reason": "no"}"#]
    {
        let message = Message::from_json(body, &ann).unwrap().unless_moved(0);
        place.store.send(id, &message).await.unwrap();
    }
    work(&place).await;
    let shown = place.run(&["show", &end(id)]);
    assert!(shown.done().contains("not applied │"), "{shown:?}");
    assert!(shown.out.contains("the machine had moved on"), "{shown:?}");
}

/// Several people answer at once: one answer counts, and the others learn whose it is.
#[tokio::test]
async fn who_answers_second_is_told() {
    let place = Place::new().await;
    for _ in 0..4 {
        let id = place.order().await;
        let answer = |by: &&str| {
            let payload = r#"{"amount": 3}"#;
            let words = ["send", &*end(id), "confirm", "--as", by, "--payload", payload];
            let mut command = place.command(&words);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let people = ["ann", "bob", "eve"];
        let running: Vec<_> = people.iter().map(answer).collect();
        let told = running.into_iter().map(|child| {
            let Output { stdout, stderr, .. } = child.wait_with_output().unwrap();
            String::from_utf8([stdout, stderr].concat()).unwrap()
        });
        let told: Vec<_> = told.collect();
        let first = place.store.inbox(id).await.unwrap().remove(0).unwrap().name.unwrap();
        for (by, told) in people.iter().zip(&told) {
            if *by == first {
                assert_eq!(*told, format!("{id}: sent\n"));
            } else {
                let (refused, warned) =
                    (format!("{first} has already answered"), format!("{first} was faster"));
                assert!(told.contains(&refused) || told.contains(&warned), "{told}");
            }
        }
    }
}

/// Another message under the id of one that waits is refused; after that one was set aside, it takes its
/// place.
#[tokio::test]
async fn a_corrected_message_takes_the_id_of_one_that_was_set_aside() {
    let place = Place::new().await;
    let id = place.order().await;
    let ann = Human::new("ann").unwrap();
    let wrong = Message::from_json(r#"{"trigger": "confirm", "amount": "three"}"#, &ann).unwrap();
    place.store.send(id, &wrong.with_correlation("form-17").unwrap()).await.unwrap();
    let sent = ["send", &end(id), "confirm", "--as", "ann", "--correlation", "form-17"];
    let right = [&sent[..], &["--payload", r#"{"amount": 3}"#]].concat();
    let said = "has another message with the correlation id `form-17`";
    place.run(&right).failed(1, said);
    work(&place).await;
    place.run(&right).done();
    let other = [&sent[..], &["--payload", r#"{"amount": 4}"#]].concat();
    place.run(&other).failed(1, said);
    work(&place).await;
    let order = place.store.load::<AnyOrder>(id).await.unwrap();
    let AnyOrder::Paying(order) = order else { panic!("{order:?}") };
    assert_eq!(order.state().amount, 3);
    let shown = place.run(&["show", &end(id)]);
    assert!(shown.done().contains("replaced"), "{shown:?}");
    assert!(!place.run(&["list"]).done().contains("requeue"));
}
