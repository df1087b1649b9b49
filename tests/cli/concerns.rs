//! Why something needs attention, and how that ends.

use std::time::Duration;

use machine::{
    clock,
    contract::{CallFact, Contract, ToolSpec},
};
use machine_tests::{actors::reasoning_node, samples::mail, stores::begun};
use serde_json::Value;

use crate::surfaces::{Place, end};

fn concern(place: &Place) -> Value {
    let listed = place.json(&["list", "--attention-only"]);
    let concerns = listed["attention"]["concerns"].as_array().unwrap();
    assert_eq!(concerns.len(), 1, "{listed}");
    concerns[0].clone()
}

/// Every audience sees the reason.
#[tokio::test]
async fn set_aside_work_shows_its_reason() {
    let misfit = "`confirm` expects a different type for `amount`; it takes amount: u32, note: Option<String>";
    for (body, cause) in [
        (r#"{"trigger": "confirm", "amount": "hunter2"}"#, misfit),
        (r#"{"trigger": "confirm", "amount": -1}"#, misfit),
        (
            r#"{"trigger": "confirm", "hunter2": 1}"#,
            "`confirm` needs `amount`, and does not take everything that was sent; it takes amount: u32, \
             note: Option<String>",
        ),
        (r#"{"trigger": "hunter2"}"#, "no state of the machine accepts such an event"),
    ] {
        let place = Place::new().await;
        let id = place.order().await;
        place.message(id, body).await;
        place.work().await;
        let found = concern(&place);
        assert_eq!(found["trouble"]["reason"], cause);
        // Data of the message is not for every audience.
        assert!(!found.to_string().contains("hunter2"), "{found}");
        let shown = place.json(&["show", &end(id)]);
        assert_eq!(shown["messages"][0]["reason"], cause);
        let listed = place.run(&["list"]);
        let listed = listed.done().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(listed.contains("set aside") && listed.contains(&cause[..20]), "{listed}");
    }
}

/// Deadlines and calls have different texts, and the time at which they became overdue.
#[tokio::test]
async fn overdue_work_shows_its_subject_and_time() {
    let place = Place::new().await;
    let limit = Duration::from_millis(20);
    let (gate, _) = place.gate_within(mail("bob@example.com"), Some(limit)).await;
    let expires_at = place.store.gate(gate.id()).await.unwrap().expires_at().unwrap();
    let past = async |at: i64| {
        while clock::now() <= at {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    past(expires_at).await;
    let found = concern(&place);
    assert_eq!(found["reason"], "overdue", "{found}");
    assert_eq!(found["cause"], "a deadline has passed");
    // People do not see the exact limit.
    assert_eq!(found["since"], expires_at - expires_at % 1000);

    let place = Place::new().await;
    let (running, _permit) = begun(&place.store, mail("bob").timeout_after(limit)).await;
    let history = place.store.history(running.id()).await.unwrap();
    let expires_at = history.entries.iter().find_map(|entry| match CallFact::of(entry)? {
        CallFact::Permitted { expires_at, .. } => Some(expires_at),
        _ => None,
    });
    past(expires_at.unwrap()).await;
    let found = concern(&place);
    assert_eq!(found["cause"], "its call has exceeded its time limit", "{found}");
    assert_eq!(found["since"], expires_at.unwrap() - expires_at.unwrap() % 1000);
}

/// The name of the tool does not say what to decide.
#[tokio::test]
async fn a_gate_is_listed_with_the_words_of_its_tool() {
    let place = Place::new().await;
    let bank = ToolSpec::irreversible("bank", "pay").unwrap().question("", "Pay {cents} cents?");
    let pay = Contract::tool_call(&bank, r#"{"cents": 5}"#, reasoning_node()).unwrap();
    drop(place.gate_of(pay).await);
    drop(place.gate("bob@example.com").await);
    let listed = place.run(&["list", "--attention-only"]);
    assert!(listed.done().contains("│ Pay 5 cents? This cannot be undone.\n"), "{listed:?}");
    assert!(listed.out.contains("│ approval of email.send → bob@example.com\n"), "{listed:?}");
}
