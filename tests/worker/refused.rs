//! Messages that a machine does not take: recorded with the reason, and without effect on others.

use crate::worker::prelude::*;

/// A message before one that is fine, and a machine after it. Returns the first machine.
async fn among_others(store: &Store, message: &Message) -> Id {
    let (id, other) = (ticket(store).await, ticket(store).await);
    store.send(id, message).await.unwrap();
    store.send(id, &says(PAY, "fine")).await.unwrap();
    store.send(other, &says(PAY, "fine")).await.unwrap();
    settle(worker(store).handler(opens())).await;
    for id in [id, other] {
        is(store, id, "paid").await;
        assert_eq!(self::message(store, id, "fine").await.status, Delivery::Handled);
    }
    id
}

/// The message waits, with this text.
async fn waits(store: &Store, id: Id, correlation: &str, text: &str) {
    let message = message(store, id, correlation).await;
    assert_eq!(message.error.as_deref(), Some(text));
    assert_eq!(message.status, Delivery::Queued);
}

/// A message that can never be taken is set aside with its reason.
#[test]
fn unusable_messages() {
    let no_json = "the body is not valid JSON:";
    let no_trigger = "the body has no string `trigger`";
    let no_event = "the body is not an event of `ticket`:";
    let never = "an actor of kind `human` may never `lock`";
    for (body, start, end) in [
        ("hello", no_json, "expected value at line 1 column 1"),
        ("", no_json, "EOF while parsing a value at line 1 column 0"),
        (&"[".repeat(1000), no_json, "recursion limit exceeded at line 1 column 128"),
        // Beyond all floats.
        (
            r#"{"trigger": "pay", "amount": 1e999}"#,
            no_json,
            "number out of range at line 1 column 34",
        ),
        ("null", no_trigger, ""),
        ("17", no_trigger, ""),
        ("\"pay\"", no_trigger, ""),
        ("[]", no_trigger, ""),
        ("[\"pay\", 3]", no_trigger, ""),
        ("{}", no_trigger, ""),
        (r#"{"trigger": 3}"#, no_trigger, ""),
        (
            r#"{"trigger": "succeed", "result": "x"}"#,
            "`succeed` is not a trigger of ticket; its triggers:",
            "cancel, lock, open, pay, share, unlock, wish",
        ),
        (r#"{"trigger": "pay"}"#, no_event, "missing field `amount`"),
        (
            r#"{"trigger": "pay", "amount": "3"}"#,
            no_event,
            "invalid type: string \"3\", expected u32",
        ),
        (
            r#"{"trigger": "pay", "amount": -1}"#,
            no_event,
            "invalid value: integer `-1`, expected u32",
        ),
        (
            r#"{"trigger": "pay", "amount": 4294967296}"#,
            no_event,
            "invalid value: integer `4294967296`, expected u32",
        ),
        (
            r#"{"trigger": "pay", "amount": 1e300}"#,
            no_event,
            "invalid type: floating point `1e+300`, expected u32",
        ),
        // Ann may not lock a ticket, in no state. The last of two members counts.
        (LOCK, never, ""),
        (r#"{"trigger": "pay", "trigger": "lock", "amount": 3}"#, never, ""),
    ] {
        each(async |store| {
            let id = among_others(&store, &says(body, "bad")).await;
            let text = message(&store, id, "bad").await.error.unwrap();
            assert!(text.starts_with(start) && text.contains(end), "{body}: {text}");
            // An error of serde says more.
            assert!(start == no_event || text == format!("{start} {end}").trim(), "{text}");
            refused(&store, id, "bad", &text).await;
        });
    }
}

/// The text of a stranger is shortened, and has no control characters.
#[test]
fn text_of_a_refusal_is_bounded() {
    for (body, limit) in [
        (format!(r#"{{"trigger": "\u001b[31m\n\u202e{}"}}"#, "x".repeat(100_000)), 500),
        (format!(r#"{{"trigger": "pay", "amount": "{}"}}"#, "x".repeat(1_000_000)), 10_000),
    ] {
        each(async |store| {
            let id = among_others(&store, &says(&body, "bad")).await;
            let error = message(&store, id, "bad").await.error.unwrap();
            assert!(error.len() < limit, "{}", error.len());
            assert!(!error.contains(['\u{1b}', '\n', '\u{202e}']), "{error:?}");
        });
    }
}

/// The last of two members counts, for the check as for the move.
#[test]
fn duplicate_members() {
    for body in [
        r#"{"trigger": "lock", "trigger": "pay", "amount": 4}"#,
        r#"{"trigger": "pay", "amount": 3, "amount": 4}"#,
    ] {
        each(async |store| {
            let id = ticket(&store).await;
            store.send(id, &says(body, "twice")).await.unwrap();
            settle(worker(&store).handler(opens())).await;
            let twice = message(&store, id, "twice").await;
            let AnyTicket::Paid(paid) = store.load(id).await.unwrap() else {
                panic!("{body}: {:?}", twice.error)
            };
            assert_eq!(paid.state().amount, 4);
        });
    }
}

/// `unlock` is not for OPEN; the message waits for LOCKED.
#[test]
fn move_that_the_state_does_not_have() {
    each(async |store| {
        let id = ticket(&store).await;
        store.send(id, &says(UNLOCK, "early")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        let text = "`unlock` by `human` is not legal in OPEN; from OPEN you can: pay -> PAID, share \
                    -> PAID, wish -> WISHED, lock -> LOCKED, cancel -> CANCELLED";
        waits(&store, id, "early", text).await;

        // Not forgotten: it is taken when the state comes.
        store.send(id, &tells(LOCK, "lock")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        let early = message(&store, id, "early").await;
        assert_eq!((early.status, early.error), (Delivery::Handled, None));
        is(&store, id, "open").await;
    });
}

/// However many messages wait for another state, one that the state takes is found.
#[test]
fn many_that_wait_do_not_hide_one_that_is_taken() {
    each(async |store| {
        let id = ticket(&store).await;
        for number in 0..100 {
            store.send(id, &says(UNLOCK, &format!("early {number}"))).await.unwrap();
        }
        store.send(id, &says(PAY, "fine")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        is(&store, id, "paid").await;
    });
}

#[test]
fn guard_refuses() {
    each(async |store| {
        let (id, body) = (ticket(&store).await, r#"{"trigger": "pay", "amount": 101}"#);
        store.send(id, &says(body, "much")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        waits(&store, id, "much", "OPEN cannot `pay` now: more than 100 needs two people").await;
        // The next one is taken.
        store.send(id, &says(PAY, "fine")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        is(&store, id, "paid").await;
    });
}

/// A message whose guard or computed item panics is set aside with the text of the panic; the
/// machine continues.
#[test]
fn move_panics() {
    for (body, text) in [
        (r#"{"trigger": "pay", "amount": 13}"#, "unlucky"),
        (r#"{"trigger": "share", "parts": 0}"#, "attempt to divide by zero"),
    ] {
        each(async |store| {
            let (id, other) = (ticket(&store).await, ticket(&store).await);
            store.send(id, &says(body, "bad")).await.unwrap();
            store.send(other, &says(PAY, "fine")).await.unwrap();
            settle(worker(&store).handler(opens())).await;
            let text = format!("the move of this message panicked: {text}");
            refused(&store, id, "bad", &text).await;
            is(&store, id, "open").await;
            is(&store, other, "paid").await;
            assert_eq!(message(&store, id, "bad").await.attempts, 5);

            store.send(id, &says(PAY, "fine")).await.unwrap();
            settle(worker(&store).handler(opens())).await;
            is(&store, id, "paid").await;
        });
    }
}

/// Others are handled between the attempts at one message.
#[test]
fn message_that_fails_blocks_no_other() {
    each(async |store| {
        let id = ticket(&store).await;
        store.send(id, &says(r#"{"trigger": "pay", "amount": 13}"#, "bad")).await.unwrap();
        store.send(id, &says(PAY, "fine")).await.unwrap();
        settle(Worker::new(&store, actors()).handler(opens())).await;
        is(&store, id, "paid").await;
        assert!(message(&store, id, "bad").await.attempts < 5);
    });
}

/// A message carries the kind of its actor, not the type: two types of one program must not share a
/// kind, as the docs of `Worker::sender` say.
struct Stranger;

impl Actor for Stranger {
    const KIND: &'static str = "customer";
    const CATEGORY: Category = Category::Human;
}

/// A worker that does not know a kind of actors leaves their messages to one that does.
#[test]
fn actor_unknown_to_the_worker() {
    let body = r#"{"trigger": "wish", "text": "blue"}"#;
    for wish in [Message::from_json(body, &Customer), Message::from_json(body, &Stranger)] {
        let wish = wish.unwrap().with_correlation("wish").unwrap();
        each(async |store| {
            let id = ticket(&store).await;
            store.send(id, &wish).await.unwrap();
            settle(worker(&store).handler(opens())).await;
            let text = "this worker does not know actors of kind `customer`; add them with \
                        `Worker::sender`";
            waits(&store, id, "wish", text).await;

            let id_of_news = ticket(&store).await;
            settle(worker(&store).handler(opens()).sender::<Customer>()).await;
            is(&store, id_of_news, "open").await;
            is(&store, id, "wished").await;
        });
    }
}

/// A model may not end an action by a message: `Store::cancel` asks for a tool node. Nor does a
/// message start an irreversible call: the rules of a context hold for messages, too, and the call
/// that follows has a permit.
#[test]
fn messages_to_executions() {
    each(async |store| {
        let question = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
        let question = create(&store, Execution::new(question)).await;
        let cancel =
            Message::from_json(r#"{"trigger": "cancel", "reason": "no"}"#, reasoning_node());
        let cancel = cancel.unwrap().with_correlation("no").unwrap();
        store.send(question, &cancel).await.unwrap();
        let id = plan::<Charge>(&store, charge(3)).await;
        let start = Message::from_json(r#"{"trigger": "start"}"#, tool_node()).unwrap();
        store.send(id, &start.with_correlation("start").unwrap()).await.unwrap();
        let bank = Service::default();
        settle(worker(&store).tool::<Charge>(bank.clone())).await;

        is(&store, question, "pending").await;
        let text = "an actor of kind `reasoning` may never `cancel`";
        refused(&store, question, "no", text).await;
        is(&store, id, "completed").await;
        assert_eq!(bank.calls(), 1);
        let start = message(&store, id, "start").await;
        assert_eq!(start.status, Delivery::SetAside);
        let error = start.error.unwrap();
        assert!(error.contains("permit"), "{error}");
    });
}
