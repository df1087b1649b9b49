//! Valid and invalid messages, and their way to the machine.

use machine::store::{InvalidMessage, SendError};

use crate::{
    definition::versions::{Clerk, Porter},
    worker::prelude::*,
};

const ENDED: &str = "the machine has ended";

/// A batch with such a message writes nothing at all.
#[test]
fn unknown_machine() {
    each(async |store| {
        let (id, unknown) = (ticket(&store).await, Ticket::new().id());
        let error = store.send(unknown, &says(PAY, "1")).await.unwrap_err();
        assert!(matches!(error, SendError::NotFound { id } if id == unknown));
        let said = "no machine ID in this store; the message was not stored; check the id";
        assert_eq!(error.to_string(), said.replace("ID", &unknown.to_string()));
        assert!(inbox(&store, unknown).await.is_empty());
        let batch = store.batch().send(id, &says(PAY, "1")).send(unknown, &says(PAY, "1"));
        batch.write().await.unwrap_err();
        assert!(inbox(&store, id).await.is_empty());
    });
}

/// Messages that wait when the machine ends are set aside, not lost; later ones are kept, too.
#[test]
fn ended_machine_keeps_the_message_set_aside() {
    each(async |store| {
        let id = ticket(&store).await;
        store.send(id, &says(PAY, "1")).await.unwrap();
        store.send(id, &says(r#"{"trigger": "cancel", "reason": "no"}"#, "2")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        is(&store, id, "paid").await;
        assert_eq!(message(&store, id, "1").await.status, Delivery::Handled);
        refused(&store, id, "2", ENDED).await;

        let error = store.send(id, &says(PAY, "3")).await.unwrap_err();
        assert!(matches!(error, SendError::Ended { id: ended } if ended == id));
        let said = "ID has ended, so the message will never be handled; it was stored as set aside";
        assert_eq!(error.to_string(), said.replace("ID", &id.to_string()));
        refused(&store, id, "3", ENDED).await;
        assert_err!(store.requeue(id, &["3"]).await, SendError::Ended { .. });
        refused(&store, id, "3", ENDED).await;
    });
}

#[test]
fn largest_message_is_handled_and_one_byte_more_is_refused() {
    let body = |bytes: usize| {
        let start = r#"{"trigger": "cancel", "reason": ""#;
        format!("{start}{}\"}}", "x".repeat(bytes - start.len() - 2))
    };
    let most = 1_048_576;
    let error = Message::from_json(body(most + 1), ann()).unwrap_err();
    assert!(matches!(error, InvalidMessage::TooLarge { bytes } if bytes == most + 1));
    assert_eq!(
        error.to_string(),
        "the message has 1048577 bytes, the limit is 1048576; store large data elsewhere and send \
         a reference"
    );
    each(async |store| {
        let id = ticket(&store).await;
        store.send(id, &says(&body(most), "1")).await.unwrap();
        settle(worker(&store).handler(opens())).await;
        assert_eq!(message(&store, id, "1").await.body.len(), most);
        is(&store, id, "cancelled").await;
    });
}

#[test]
fn unusable_correlation_ids() {
    let long = "x".repeat(257);
    for id in ["", "\0", "a\nb", "a\u{200b}b", "\u{202e}", "\u{feff}a", "a\tb", "machine:x", &long]
    {
        let message = Message::from_json(PAY, ann()).unwrap();
        let error = message.with_correlation(id).unwrap_err();
        assert!(matches!(error, InvalidMessage::Correlation { .. }), "{id:?}");
        let text = error.to_string();
        assert!(
            text.ends_with(
                "is not a correlation id; use 1 to 256 bytes without invisible characters; `machine:` \
                 at the start is reserved"
            ),
            "{text}"
        );
        assert!(text.len() < 300 && !text.contains(['\0', '\n', '\u{202e}']), "{text:?}");
    }
    for id in ["a", "a b", "日本", &"x".repeat(256)] {
        says(PAY, id);
    }
}

struct Impostor;

impl Actor for Impostor {
    const KIND: &'static str = "human";
    const CATEGORY: Category = Category::Human;

    fn name(&self) -> Option<&str> {
        Some("ann")
    }
}

/// A type of another crate does not speak for a person.
#[test]
fn impostor_cannot_send() {
    let error = Message::from_json(PAY, &Impostor).unwrap_err();
    assert!(matches!(error, InvalidMessage::Actor("human")));
    // `Human` does not come from `Actors::issue`.
    assert_eq!(
        error.to_string(),
        "the kind `human` is reserved for an actor of the library; choose another kind"
    );
    each(async |store| {
        let id = ticket(&store).await;
        // Nor does a worker take it for one: it is still `Human` who pays.
        store.send(id, &says(PAY, "1")).await.unwrap();
        settle(worker(&store).handler(opens()).sender::<Impostor>()).await;
        is(&store, id, "paid").await;
    });
}

/// A trigger that was called `post` before.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Letter {
    #[initial]
    #[on(send => Sent, by = Human | Porter, was = "post")]
    Draft,
    #[terminal]
    Sent,
}

#[test]
fn old_names_of_a_trigger_and_of_an_actor() {
    let post = r#"{"trigger": "post"}"#;
    each(async |store| {
        let of_clerk = Message::from_json(post, &Clerk).unwrap();
        for message in [says(post, "1"), of_clerk] {
            let id = create(&store, Letter::new()).await;
            store.send(id, &message).await.unwrap();
            let worker = worker(&store).handler(rests::<AnyLetter>());
            settle(worker.sender::<Porter>()).await;
            is(&store, id, "sent").await;
        }
    });
}
