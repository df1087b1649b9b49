//! Files that are locked, written by others, read-only, of another version, deleted, or broken.

use std::time::{Duration, Instant};

use machine::store::OpenOptions;
use machine_console::http::Http;
use machine_tests::STUCK;
use serde_json::json;

use crate::surfaces::{Call, OPERATOR, Place, READER, access, actors, shown};

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_file_can_be_read_and_is_busy_for_writes() {
    let options = OpenOptions::new().busy_timeout(Duration::from_millis(200));
    let place = Place::opened(&options, |http| http).await;
    let (gate, _) = place.gate("bob@example.com").await;
    let lock = rusqlite::Connection::open(place.file()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    place.read("/api/machines").await.is(200);
    let body = json!({ "gates": [shown(&gate)] });
    let busy = place.post("/api/approvals/approve", &body).await;
    busy.problem(503, "");
    assert_eq!(busy.header("retry-after"), Some("1"));
    assert!(began.elapsed() < STUCK, "{:?}", began.elapsed());
    lock.execute_batch("ROLLBACK").unwrap();
    place.post("/api/approvals/approve", &body).await.is(200);
    place.contents().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_file_is_not_written() {
    let place = Place::served().await;
    let (gate, _) = place.gate("bob@example.com").await;
    let store = OpenOptions::new().read_only(place.file()).await.unwrap();
    let served = Place::served_with(|_| Http::new(&store, actors()).access(access())).await;
    let before = place.contents().await;
    served.read(&format!("/api/machines/{}", gate.id())).await.is(200);
    served.read("/api/approvals").await.is(200);
    let answer = served.post("/api/approvals/approve", &json!({ "gates": [shown(&gate)] })).await;
    answer.problem(503, "read");
    assert_eq!(place.contents().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_store_is_unavailable() {
    let place = Place::served().await;
    let id = place.question().await;
    place.store.close().await.unwrap();
    for path in [
        "/api/health".to_owned(),
        "/api/machines".to_owned(),
        "/api/agents".to_owned(),
        "/api/attention".to_owned(),
        format!("/api/machines/{id}"),
        "/api/definitions".to_owned(),
        "/api/sessions".to_owned(),
        "/api/events".to_owned(),
        "/api/approvals".to_owned(),
        "/api/operations".to_owned(),
    ] {
        place.ask(Call::get(&path).token(OPERATOR)).await.problem(503, "");
    }
    place.post(&format!("/api/machines/{id}/cancel"), &json!({})).await.problem(503, "");
    // Paths that need no store.
    place.read("/inspector/").await;
    assert_eq!(place.read("/api/openapi.json").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_changed_does_not_stop_the_server() {
    let place = Place::served().await;
    let id = place.question().await;
    let raw = rusqlite::Connection::open(place.file()).unwrap();
    raw.pragma_update(None, "user_version", 9999).unwrap();
    let answer = place.read(&format!("/api/machines/{id}")).await;
    assert!(matches!(answer.status, 200 | 503), "{answer:?}");
    raw.execute_batch("DROP TABLE context").unwrap();
    drop(raw);
    let answer = place.read(&format!("/api/machines/{id}")).await;
    assert!(matches!(answer.status, 500 | 503), "{answer:?}");
    answer.problem(answer.status, "");
    assert!(!answer.body.contains("SELECT"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_cannot_be_read_does_not_hide_the_others() {
    let place = Place::served().await;
    let good = place.order().await;
    let broken = place.doubt("secret@example.com").await;
    place.edit_machine(broken, "UPDATE instance SET state = 'secret' WHERE id = ID");
    let answer = place.read(&format!("/api/machines/{broken}")).await;
    answer.problem(409, "verify");
    assert!(!answer.body.contains("secret"), "{answer:?}");
    let list = place.read("/api/machines").await.is(200);
    assert_eq!(list["machines"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(list["unreadable"].as_array().unwrap().len(), 1, "{list}");
    assert!(!list.to_string().contains("secret"), "{list}");
    let attention = place.read("/api/attention").await.is(200);
    assert_eq!(attention["concerns"][0]["reason"], "unreadable", "{attention}");
    assert!(!attention.to_string().contains("secret"), "{attention}");
    place.read(&format!("/api/machines/{good}")).await.is(200);
    let answer = place.post(&format!("/api/machines/{broken}/cancel"), &json!({})).await;
    assert!(answer.status >= 400, "{answer:?}");
    answer.problem(answer.status, "");
}

/// A file that was replaced or deleted is not read on: the monitor sees it, and streams end.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_gone_is_unavailable() {
    let place = Place::served().await;
    let (gate, _) = place.gate("bob@example.com").await;
    place.read("/api/health").await.is(200);
    std::fs::remove_file(place.file()).unwrap();
    let one = format!("/api/machines/{}", gate.id());
    for path in ["/api/health", "/api/machines", "/api/attention", "/api/events", &one] {
        place.read(path).await.problem(503, "moved, deleted or replaced");
    }
    let body = json!({ "gates": [shown(&gate)] });
    place.post("/api/approvals/approve", &body).await.problem(503, "moved, deleted or replaced");
}

/// Only operators see the reason why a machine cannot be read.
#[tokio::test(flavor = "multi_thread")]
async fn the_reason_why_a_machine_cannot_be_read_is_for_operators() {
    let place = Place::served().await;
    let id = place.order().await;
    place.edit("UPDATE instance SET updated_at = updated_at + 1");
    let path = format!("/api/machines/{id}");
    let why = "the seal does not match";
    place.ask(Call::get(&path).token(OPERATOR)).await.problem(409, why);
    for call in [Call::get(&path), Call::get(&path).token(READER)] {
        let answer = place.ask(call).await;
        answer.problem(409, "an operator sees the reason here");
        assert!(!answer.body.contains(why), "{answer:?}");
    }
    // It needs attention in any state.
    let attention = place.get("/api/attention?audience=internal").await;
    assert_eq!(attention["concerns"][0]["id"], json!(id), "{attention}");
    assert!(attention["concerns"][0]["error"].as_str().unwrap().contains(why), "{attention}");
}
