//! Messages that a machine does not take: recorded with the reason, and without effect on others.

use machine::{
    Id,
    actor::{Actor, Category, ReasoningNode},
    store::{Delivery, Message, Store},
};

use crate::worker::support::{
    AnyTicket, Customer, actors, create, each, message, opens, refused, says, settle, status,
    ticket, ticket::Status, waits, worker,
};

const PAY: &str = r#"{"trigger": "pay", "amount": 3}"#;

/// A message before one that is fine, and a machine after it. Returns the first machine.
async fn among_others(store: &Store, message: &Message) -> Id {
    let (id, other) = (ticket(store).await, ticket(store).await);
    store.send(id, message).await.unwrap();
    store.send(id, &says(PAY, "fine")).await.unwrap();
    store.send(other, &says(PAY, "fine")).await.unwrap();
    settle(worker(store).handler(opens())).await;
    for id in [id, other] {
        assert_eq!(status(store, id).await, Status::Paid);
        assert_eq!(self::message(store, id, "fine").await.status, Delivery::Handled);
    }
    assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    id
}

/// A message that can never be taken is set aside with this text.
async fn never(body: &str, text: &str) {
    each(async |store: Store| {
        let id = among_others(&store, &says(body, "bad")).await;
        refused(&store, id, "bad", text).await;
    })
    .await;
}

#[tokio::test]
async fn not_json() {
    never("hello", "the body is not valid JSON: expected value at line 1 column 1").await;
}

#[tokio::test]
async fn empty() {
    let text = "the body is not valid JSON: EOF while parsing a value at line 1 column 0";
    never("", text).await;
}

#[tokio::test]
async fn deeply_nested() {
    let text = "the body is not valid JSON: recursion limit exceeded at line 1 column 128";
    never(&"[".repeat(1000), text).await;
}

#[tokio::test]
async fn not_an_object() {
    for body in ["null", "17", "\"pay\"", "[]", "[\"pay\", 3]", "{}", r#"{"trigger": 3}"#] {
        never(body, "the body has no text `trigger`").await;
    }
}

#[tokio::test]
async fn event_of_another_machine() {
    let body = r#"{"trigger": "succeed", "result": "x"}"#;
    let text = "`succeed` is not a trigger of ticket; its triggers: cancel, lock, open, pay, share, \
                unlock, wish";
    never(body, text).await;
}

/// The text of a stranger is shortened, and has no control characters.
#[tokio::test]
async fn hostile_trigger() {
    let body = format!(r#"{{"trigger": "\u001b[31m\n\u202e{}"}}"#, "x".repeat(100_000));
    each(async |store: Store| {
        let id = among_others(&store, &says(&body, "bad")).await;
        let error = message(&store, id, "bad").await.error.unwrap();
        assert!(error.len() < 500, "{}", error.len());
        assert!(!error.contains(['\u{1b}', '\n', '\u{202e}']), "{error:?}");
    })
    .await;
}

#[tokio::test]
async fn wrong_payload() {
    let begin = "the body is not an event of `ticket`:";
    for (body, why) in [
        (r#"{"trigger": "pay"}"#, "missing field `amount`"),
        (r#"{"trigger": "pay", "amount": "3"}"#, "invalid type: string \"3\", expected u32"),
        (r#"{"trigger": "pay", "amount": -1}"#, "invalid value: integer `-1`, expected u32"),
        (
            r#"{"trigger": "pay", "amount": 4294967296}"#,
            "invalid value: integer `4294967296`, expected u32",
        ),
        (
            r#"{"trigger": "pay", "amount": 1e300}"#,
            "invalid type: floating point `1e+300`, expected u32",
        ),
    ] {
        each(async |store: Store| {
            let id = among_others(&store, &says(body, "bad")).await;
            let error = message(&store, id, "bad").await.error.unwrap();
            assert!(error.starts_with(begin) && error.contains(why), "{error}");
        })
        .await;
    }
}

#[tokio::test]
async fn number_beyond_all_floats() {
    never(
        r#"{"trigger": "pay", "amount": 1e999}"#,
        "the body is not valid JSON: number out of range at line 1 column 34",
    )
    .await;
}

/// No payload makes a record as large as itself.
#[tokio::test]
async fn text_of_a_refusal_is_bounded() {
    let body = format!(r#"{{"trigger": "pay", "amount": "{}"}}"#, "x".repeat(1_000_000));
    each(async |store: Store| {
        let id = among_others(&store, &says(&body, "bad")).await;
        let error = message(&store, id, "bad").await.error.unwrap();
        assert!(error.len() < 10_000, "{} bytes", error.len());
    })
    .await;
}

/// The last of two members counts, for the check as for the move.
#[tokio::test]
async fn duplicate_members() {
    let lock = r#"{"trigger": "pay", "trigger": "lock", "amount": 3}"#;
    never(lock, "an actor of kind `human` may never `lock`").await;
    for body in [
        r#"{"trigger": "lock", "trigger": "pay", "amount": 4}"#,
        r#"{"trigger": "pay", "amount": 3, "amount": 4}"#,
    ] {
        each(async |store: Store| {
            let id = ticket(&store).await;
            store.send(id, &says(body, "twice")).await.unwrap();
            settle(worker(&store).handler(opens())).await;
            let twice = message(&store, id, "twice").await;
            let AnyTicket::Paid(paid) = store.load(id).await.unwrap() else {
                panic!("{body}: {:?}", twice.error)
            };
            assert_eq!(paid.state().amount, 4);
        })
        .await;
    }
}

/// Ann may not lock a ticket, in no state.
#[tokio::test]
async fn actor_who_may_never() {
    never(r#"{"trigger": "lock"}"#, "an actor of kind `human` may never `lock`").await;
}

/// `unlock` is not for OPEN; the message waits for LOCKED.
#[tokio::test]
async fn move_that_the_state_does_not_have() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        store.send(id, &says(r#"{"trigger": "unlock"}"#, "early")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        let text = "`unlock` by `human` is not legal in OPEN; from OPEN you can: pay -> PAID, share \
                    -> PAID, wish -> WISHED, lock -> LOCKED, cancel -> CANCELLED";
        waits(&store, id, "early", text).await;

        // Not forgotten: it is taken when the state comes.
        let lock = Message::from_json(r#"{"trigger": "lock"}"#, &actors().graph_runner).unwrap();
        store.send(id, &lock).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        let early = message(&store, id, "early").await;
        assert_eq!((early.status, early.error), (Delivery::Handled, None));
        assert_eq!(status(&store, id).await, Status::Open);
    })
    .await;
}

/// However many messages wait for another state, one that the state takes is found.
#[tokio::test]
async fn many_that_wait_do_not_hide_one_that_is_taken() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        for number in 0..100 {
            let early = says(r#"{"trigger": "unlock"}"#, &format!("early {number}"));
            store.send(id, &early).await.unwrap();
        }
        store.send(id, &says(PAY, "fine")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Paid);
    })
    .await;
}

#[tokio::test]
async fn guard_refuses() {
    each(async |store: Store| {
        let (id, body) = (ticket(&store).await, r#"{"trigger": "pay", "amount": 101}"#);
        store.send(id, &says(body, "much")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        waits(&store, id, "much", "OPEN cannot `pay` now: more than 100 needs two people").await;
        // The next one is taken.
        store.send(id, &says(PAY, "fine")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Paid);
    })
    .await;
}

/// A message whose move panics is set aside with the text of the panic; the machine continues.
async fn panics(body: &str, text: &str) {
    each(async |store: Store| {
        let (id, other) = (ticket(&store).await, ticket(&store).await);
        store.send(id, &says(body, "bad")).await.unwrap();
        store.send(other, &says(PAY, "fine")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        refused(&store, id, "bad", text).await;
        assert_eq!(status(&store, id).await, Status::Open);
        assert_eq!(status(&store, other).await, Status::Paid);
        assert_eq!(message(&store, id, "bad").await.attempts, 5);

        store.send(id, &says(PAY, "fine")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Paid);
    })
    .await;
}

#[tokio::test]
async fn guard_panics() {
    let text = "the move of this message panicked: unlucky";
    panics(r#"{"trigger": "pay", "amount": 13}"#, text).await;
}

#[tokio::test]
async fn computed_item_panics() {
    let text = "the move of this message panicked: attempt to divide by zero";
    panics(r#"{"trigger": "share", "parts": 0}"#, text).await;
}

/// Others are handled between the attempts at one message.
#[tokio::test]
async fn message_that_fails_blocks_no_other() {
    crate::worker::support::timed(async |store: Store, _| {
        let id = ticket(&store).await;
        store.send(id, &says(r#"{"trigger": "pay", "amount": 13}"#, "bad")).await.unwrap();
        store.send(id, &says(PAY, "fine")).await.unwrap();
        settle(machine::worker::Worker::new(&store, actors()).handler(opens())).await;
        assert_eq!(status(&store, id).await, Status::Paid);
        assert!(message(&store, id, "bad").await.attempts < 5);
    })
    .await;
}

/// A worker that does not know a kind of actors leaves their messages to one that does.
#[tokio::test]
async fn actor_unknown_to_the_worker() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let wish = Message::from_json(r#"{"trigger": "wish", "text": "blue"}"#, &Customer).unwrap();
        store.send(id, &wish.with_correlation("wish").unwrap()).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        let text = "this worker does not know actors of kind `customer`; add them with \
                    `Worker::sender`";
        waits(&store, id, "wish", text).await;

        let id_of_news = ticket(&store).await;
        settle(worker(&store).handler(opens()).sender::<Customer>()).await;
        assert_eq!(status(&store, id_of_news).await, Status::Open);
        assert_eq!(status(&store, id).await, Status::Wished);
    })
    .await;
}

/// A message carries the kind of its actor, not the type: two types of one program must not share a
/// kind, as the docs of `Worker::sender` say.
struct Stranger;

impl Actor for Stranger {
    const KIND: &'static str = "customer";
    const CATEGORY: Category = Category::Human;
}

#[tokio::test]
async fn type_that_shares_a_kind_sends_as_the_actor() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        let body = r#"{"trigger": "wish", "text": "blue"}"#;
        store.send(id, &Message::from_json(body, &Stranger).unwrap()).await.unwrap();
        settle(worker(&store).handler(opens()).sender::<Customer>()).await;
        assert_eq!(status(&store, id).await, Status::Wished);
    })
    .await;
}

/// A model may not end an action by a message: `Store::cancel` asks for a tool node.
#[tokio::test]
async fn reasoning_node_cancels_no_execution() {
    use machine::contract::{AnyExecution, Contract, Execution, execution};

    each(async |store: Store| {
        let by = actors();
        let question = Contract::ecs_request("Which port?", &by.reasoning_node).unwrap();
        let id = create(&store, Execution::new(question)).await;
        let body = r#"{"trigger": "cancel", "reason": "no"}"#;
        let sent = Message::from_json::<ReasoningNode>(body, &by.reasoning_node).unwrap();
        store.send(id, &sent.with_correlation("no").unwrap()).await.unwrap();
        let bank = crate::worker::shop::Bank::default();
        settle(worker(&store).tool::<crate::worker::shop::Charge>(bank)).await;
        let execution: AnyExecution = store.load(id).await.unwrap();
        assert_eq!(execution.status(), execution::Status::Pending);
        let text = "an actor of kind `reasoning` may never `cancel`";
        refused(&store, id, "no", text).await;
    })
    .await;
}

/// The rules of a context hold for messages, too: no message starts an irreversible call without a permit.
#[tokio::test]
async fn context_refuses() {
    use machine::contract::{AnyExecution, Contract, Planned, execution};

    each(async |store: Store| {
        let by = actors();
        let charge = crate::worker::shop::Charge { cents: 3 };
        let contract = Contract::of(&charge, &by.reasoning_node).unwrap();
        let planned = Planned::<crate::worker::shop::Charge>::new(contract).unwrap();
        let id = create(&store, planned.into_execution()).await;
        let start = Message::from_json(r#"{"trigger": "start"}"#, &by.tool_node).unwrap();
        store.send(id, &start.with_correlation("start").unwrap()).await.unwrap();
        let bank = crate::worker::shop::Bank::default();
        settle(worker(&store).tool::<crate::worker::shop::Charge>(bank.clone())).await;
        // The call that followed had a permit.
        let execution: AnyExecution = store.load(id).await.unwrap();
        assert_eq!(execution.status(), execution::Status::Completed);
        assert_eq!(bank.0.load(std::sync::atomic::Ordering::SeqCst), 1);
        let start = message(&store, id, "start").await;
        assert_eq!(start.status, Delivery::SetAside);
        let error = start.error.unwrap();
        assert!(error.contains("permit"), "{error}");
        assert!(store.verify_all(|_| ()).await.unwrap().problems.is_empty());
    })
    .await;
}

/// `AnyTicket` in the store is as it was.
#[tokio::test]
async fn what_is_refused_changes_nothing() {
    each(async |store: Store| {
        let id = ticket(&store).await;
        settle(worker(&store).handler(opens())).await;
        let before = store.history(id).await.unwrap().entries.len();
        for (number, body) in ["", "{}", r#"{"trigger": "unlock"}"#].into_iter().enumerate() {
            store.send(id, &says(body, &number.to_string())).await.unwrap();
        }
        settle(worker(&store).handler(opens())).await;
        assert_eq!(store.history(id).await.unwrap().entries.len(), before);
        assert!(matches!(store.load(id).await.unwrap(), AnyTicket::Open(_)));
    })
    .await;
}
