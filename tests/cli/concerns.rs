//! Why something needs attention, and how that ends.

use std::time::Duration;

use machine::{
    actor::{Actors, Human},
    clock,
    contract::{Action, CallFact, Execution, execution::Pending},
    store::Message,
    view::Label,
    worker::{Failure, Handler, Next, Task, Worker},
};
use machine_tests::{
    actors::{ecs_node, tool_node},
    samples::{contradicted, mail},
};
use serde_json::{Value, json};

use crate::cli::support::{AnyOrder, Place, end};

fn concern(place: &Place) -> Value {
    let listed = place.json(&["list", "--attention-only"]);
    let concerns = listed["attention"]["concerns"].as_array().unwrap();
    assert_eq!(concerns.len(), 1, "{listed}");
    concerns[0].clone()
}

/// D5: before, there was no such command, and only `prune` ended it.
#[tokio::test]
async fn what_is_contradicted_is_acknowledged() {
    let place = Place::new().await;
    let id = contradicted(&place.store, "bob@example.com").await;
    let found = concern(&place);
    assert_eq!(found["reason"], "contradicted");
    assert_eq!(
        found["next"],
        json!([{ "do": "acknowledge", "id": id, "command": format!("acknowledge {id} --as NAME") }])
    );
    place.run(&["acknowledge", &end(id)]).failed(2, "--as <NAME>");
    place.run(&["acknowledge", &end(id), "--as", "ann"]).done();
    let listed = place.json(&["list"]);
    assert_eq!(listed["attention"]["concerns"], json!([]));
    assert_eq!(listed["machines"][0]["label"], "CONTRADICTED");
    let shown = place.run(&["show", &end(id)]);
    assert!(shown.done().contains("acknowledged a person has dealt with"), "{shown:?}");
    place.run(&["acknowledge", &end(id), "--as", "bob"]).failed(1, "ann has already acknowledged");
    let failed = place.failed("eve@example.com").await;
    let refused = place.run(&["acknowledge", &end(failed), "--as", "ann"]);
    refused.failed(1, "there is nothing to acknowledge");
    let log = place.store.operations(10, None).await.unwrap();
    let log: Vec<_> = log.items.into_iter().map(Result::unwrap).collect();
    let told: Vec<_> = log.iter().map(|one| (&*one.by, &*one.via, &*one.operation)).collect();
    let by = |name| (name, "cli", "acknowledge");
    let before = ("ann", "program", "override not applied");
    assert_eq!(told, [by("ann"), by("bob"), by("ann"), before]);
    assert_eq!(log[2].outcome.as_deref(), Some("done"));
    let timeline = place.run(&["timeline", &end(id)]);
    assert!(timeline.done().contains("acknowledged by a person"), "{timeline:?}");
    assert_eq!(place.label(id).await, Label::Contradicted);
    place.run(&["verify"]).done();
}

/// Every state waits for messages.
pub(crate) struct Waits;

impl Handler for Waits {
    type Machine = AnyOrder;

    async fn handle(&self, _: AnyOrder, _: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        Ok(Next::Wait)
    }
}

/// D6: before, the reason was for the audience `internal` only, and the page said "it failed too often".
#[tokio::test]
async fn what_is_set_aside_says_why() {
    let misfit =
        "`confirm` takes another type as `amount`; it takes amount: u32, note: Option<String>";
    for (body, cause) in [
        (r#"{"trigger": "confirm", "amount": "hunter2"}"#, misfit),
        (r#"{"trigger": "confirm", "amount": -1}"#, misfit),
        (
            r#"{"trigger": "confirm", "hunter2": 1}"#,
            "`confirm` needs `amount`, and does not take all that was sent; it takes amount: u32, \
             note: Option<String>",
        ),
        (r#"{"trigger": "hunter2"}"#, "no state of the machine takes such an event"),
    ] {
        let place = Place::new().await;
        let id = place.order().await;
        let message = Message::from_json(body, &Human::new("ann").unwrap()).unwrap();
        place.store.send(id, &message).await.unwrap();
        let worker = Worker::new(&place.store, Actors::issue("shop").unwrap()).handler(Waits);
        worker.run_until_idle().await.unwrap();
        let found = concern(&place);
        assert_eq!(found["trouble"]["reason"], cause);
        // Data of the message are not for everybody.
        assert!(!found.to_string().contains("hunter2"), "{found}");
        let shown = place.json(&["show", &end(id)]);
        assert_eq!(shown["messages"][0]["reason"], cause);
        let listed = place.run(&["list"]);
        let listed = listed.done().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(listed.contains("set aside") && listed.contains(&cause[..20]), "{listed}");
    }
}

/// D8: before, both had one sentence, and the time was that of the entry of the state.
#[tokio::test]
async fn what_is_overdue_says_what_and_since_when() {
    let place = Place::new().await;
    let limit = Duration::from_millis(20);
    let asked = mail("bob@example.com").ask::<Action>(Some(limit), ecs_node());
    let (mut gate, mut planned) = asked.unwrap();
    place.store.ask(&mut gate, &mut planned).await.unwrap();
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
    let mut pending: Execution<Pending> = Execution::new(mail("bob").timeout_after(limit));
    place.store.create(&mut pending).await.unwrap();
    let (running, _permit) = place.store.begin(pending, tool_node()).await.unwrap();
    let history = place.store.history(running.id()).await.unwrap();
    let expires_at = history.entries.iter().find_map(|entry| match CallFact::of(entry)? {
        CallFact::Permitted { expires_at, .. } => Some(expires_at),
        _ => None,
    });
    past(expires_at.unwrap()).await;
    let found = concern(&place);
    assert_eq!(found["cause"], "its call has run longer than it may", "{found}");
    assert_eq!(found["since"], expires_at.unwrap() - expires_at.unwrap() % 1000);
}
