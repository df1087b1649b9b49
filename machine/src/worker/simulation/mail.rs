use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::FutureExt;

use super::{
    machines::{leg, trip},
    shared::Shared,
    tours::tour,
};
use crate::{
    actor::Human,
    id::Id,
    store::{Message, SendError, Store},
};

/// Writes to a machine that is new: messages at random times, some before the state that takes them
/// and some after it, some twice. What is not sent at all is lost; then a deadline moves the
/// machine on.
///
/// Each item is in one message only, so that the history of the machine shows which ones it took.
pub(super) fn write_to(shared: &Arc<Shared>, number: usize) {
    let (id, kind) = {
        let ledger = shared.ledger();
        (ledger.machines[number].id, ledger.machines[number].kind.clone())
    };
    let mut letters = Vec::new();
    {
        let mut random = shared.random();
        if kind == "trip" {
            for item in 1..=random.below(4) {
                letters.push((event(&trip::Event::Add { item }), random.millis(0..2500)));
            }
            if random.permille(600) {
                letters.push((event(&trip::Event::Close { item: 10 }), random.millis(0..3500)));
            }
            if random.permille(300) {
                letters.push((event(&trip::Event::Abort { item: 20 }), random.millis(0..4000)));
            }
        } else if kind == "leg" && random.permille(500) {
            letters.push((event(&leg::Event::Arrive { item: 30 }), random.millis(0..1800)));
        }
        if kind == "tour" {
            for item in 50..50 + random.below(3) {
                letters.push((event(&tour::Event::Pause { item }), random.millis(100..2500)));
            }
            for item in 60..60 + random.below(3) {
                letters.push((event(&tour::Event::Resume { item }), random.millis(500..4500)));
            }
            if random.permille(500) {
                letters.push((event(&tour::Event::Again { item: 70 }), random.millis(0..4000)));
            }
        }
        if kind != "execution" && random.permille(100) {
            let nonsense = ["{}", "[1", r#"{"trigger": "fly"}"#, r#"{"trigger": "close"}"#];
            letters.push((random.one_of(&nonsense).to_owned(), random.millis(0..2000)));
        }
    }
    for (index, (body, first)) in letters.into_iter().enumerate() {
        let correlation = format!("letter-{number}-{index}");
        let Ok(by) = Human::new("ann") else { continue };
        let message = Message::from_json(body, &by).and_then(|it| it.with_correlation(correlation));
        let Ok(message) = message else { continue };
        let again = {
            let mut random = shared.random();
            random.permille(300).then(|| random.millis(0..3000))
        };
        for at in std::iter::once(first).chain(again) {
            send(shared, number, id, message.clone(), at);
        }
    }
}

fn event(event: &impl serde::Serialize) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// Sends a message after this time, and again until the store has confirmed it.
fn send(shared: &Arc<Shared>, number: usize, to: Id, message: Message, after: Duration) {
    let (_, store) = shared.process(false);
    let sender = Arc::clone(shared);
    shared.open.fetch_add(1, Ordering::AcqRel);
    // It runs for as long as the runtime, which may end before.
    drop(tokio::spawn(
        async move {
            tokio::time::sleep(after).await;
            if deliver(&store, to, &message).await {
                let correlation = message.correlation().to_owned();
                sender.ledger().confirmed.insert((number, correlation));
            }
            sender.open.fetch_sub(1, Ordering::AcqRel);
        }
        .boxed(),
    ));
}

async fn deliver(store: &Store, to: Id, message: &Message) -> bool {
    loop {
        match store.send(to, message).await {
            Ok(_) | Err(SendError::Ended { .. }) => return true,
            Err(
                SendError::NotFound { .. }
                | SendError::OtherMessage { .. }
                | SendError::InboxFull { .. }
                | SendError::NoMessage { .. },
            ) => return false,
            Err(SendError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}
