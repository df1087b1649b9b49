//! The traces: no tokens, and nothing that people send.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

use crate::surfaces::{Call, OPERATOR, Place, READER};

static TRACED: Mutex<String> = Mutex::new(String::new());

/// Writes down every value of every span and event, of all crates.
struct Everything;

struct Write;

impl Visit for Write {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut traced = TRACED.lock().unwrap_or_else(PoisonError::into_inner);
        fmt::Write::write_fmt(&mut *traced, format_args!("{field}={value:?}\n")).unwrap();
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Write);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Write);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Write);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_not_traced() {
    if !machine_tests::is_alone("http::log::secrets_are_not_traced") {
        return;
    }
    tracing::subscriber::set_global_default(Everything).unwrap();
    let place = Place::served().await;
    let question = place.question().await;
    let body = json!({ "execution_id": question, "response": "the-secret-answer" });
    place.post("/ecs/respond", &body).await.is(200);
    let order = place.order().await;
    let payload = json!({ "amount": 5, "note": "the-secret-note" });
    let body = json!({ "trigger": "confirm", "payload": payload });
    place.post(&format!("/api/machines/{order}/send"), &body).await.is(202);
    place.ask(Call::get("/api/health").token(READER)).await.is(200);
    place.ask(Call::get("/api/health").token("the-unknown-token")).await.problem(401, "");
    place.ask(Call::bytes("/ecs/respond", "the-broken-body").token(OPERATOR)).await;
    let traced = TRACED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // The store says what it wrote.
    assert!(!traced.is_empty());
    let secrets = [OPERATOR, READER, "the-secret", "the-unknown", "the-broken", "Bearer"];
    for secret in secrets {
        assert!(!traced.contains(secret), "{secret} is in {traced}");
    }
}
