//! Doubts on the command line: what is shown of one, and the findings of a person.

use std::{sync::Arc, time::Duration};

use machine::{
    contract::{Action, Call, Contract, NoReceipt, ToolSpec, service_fn},
    view::Label,
};
use machine_tests::{
    actors::{ann, reasoning_node, tool_node},
    samples::{answers, mail},
    stores::stored,
};
use serde_json::json;
use tokio::sync::Notify;

use crate::surfaces::{Place, end};

/// The doubt of a dropped call names the process to restart.
#[tokio::test]
async fn a_call_that_was_cut_off_names_its_process() {
    let place = Place::new().await;
    let pending = stored(&place.store, mail("bob@example.com")).await;
    let doubt = pending.id();
    let called = Arc::new(Notify::new());
    let calling = Arc::clone(&called);
    let hangs = service_fn(move |_: &Call<Action>| {
        calling.notify_one();
        Box::pin(std::future::pending())
    });
    tokio::select! {
        answered = place.store.perform::<Action>(pending, hangs, tool_node()) => {
            panic!("{answered:?}")
        }
        () = called.notified() => {}
    }
    place.store.recover().await.unwrap();

    let process = format!("in process {} on ", std::process::id());
    let listed = place.run(&["list"]);
    let listed = listed.done().split_whitespace().collect::<Vec<_>>().join(" ");
    let text = listed.replace(" │ │ │ │ │ ", " ");
    assert!(text.contains("cut off ") && text.contains(" s ago"), "{text}");
    let concern = &place.json(&["list"])["attention"]["concerns"][0];
    assert_eq!(concern["open_call"]["process"]["pid"], std::process::id());
    assert!(concern["open_call"]["cut_off_at"].is_i64(), "{concern}");
    let refused = place.run(&["confirm", &end(doubt), "not-applied", "--as", "ann", "--yes"]);
    refused.failed(1, &process);
    refused.failed(1, "restart that process and answer then");
    assert_eq!(place.label(doubt).await, Label::InDoubt);
}

/// "It did not take effect" is offered once it is accepted. Before, the person reads why not, and
/// is not asked.
#[tokio::test]
async fn not_applied_is_offered_once_it_is_accepted() {
    let place = Place::new().await;
    let tool = ToolSpec::irreversible("email", "send").unwrap();
    let tool = tool.settling_time(Duration::from_hours(1));
    let arguments = json!({ "to": "bob@example.com" }).to_string();
    let contract = Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap();
    let settling = place.doubt_of(contract).await;
    let running = place.running("eve@example.com").await;
    let fenced = place.run(&["fence", &end(running), "--as", "ann", "--yes"]);
    fenced.shows(&[
        &format!("confirm {running} applied"),
        "its call may still be running in process",
    ]);
    assert!(!fenced.out.contains("not-applied --as"), "{fenced:?}");
    for (id, open, refused) in [
        (
            settling,
            "can still take effect until 20",
            "can still take effect: by the clock of the store",
        ),
        (running, "may still be running in process ", "may still be running in process "),
    ] {
        let shown = place.run(&["show", &end(id)]);
        shown.shows(&[open, &format!("confirm {id} applied --as NAME")]);
        assert!(!shown.out.contains("not-applied --as"), "{shown:?}");
        // Without `--yes`, it would ask.
        place.run(&["confirm", &end(id), "not-applied", "--as", "ann"]).failed(1, refused);
        assert_eq!(place.label(id).await, Label::InDoubt);
    }
    let listed = place.run(&["list"]);
    listed.shows(&["can still take effect until 20", "may still be running in process "]);
    assert!(!listed.out.contains("not-applied --as"), "{listed:?}");
    let settles_at = place.json(&["show", &end(settling)])["open_call"]["settles_at"].take();
    assert!(settles_at.as_i64().is_some_and(|at| at > place.store.now()), "{settles_at}");
    let id = end(settling);
    place.run(&["confirm", &id, "not-applied", "--override", "--as", "ann", "--yes"]).done();
    assert_eq!(place.label(settling).await, Label::Failed);
}

/// Another attempt at a child is refused, so it is not recommended.
#[tokio::test]
async fn the_report_of_a_finding_names_what_is_possible() {
    let place = Place::new().await;
    let alone = place.doubt("bob@example.com").await;
    let (parent, gate, planned) = place.parent_of("eve@example.com").await;
    let child = planned.id();
    drop(machine_tests::approve(&place.store, gate, ann()).await.unwrap());
    let unknown = answers(Err(NoReceipt::unknown("connection lost")));
    drop(place.store.perform(planned, unknown, tool_node()).await.unwrap());
    let prefix = place.prefix();
    let next = [format!("retry {alone} --as NAME"), format!("show {parent}")];
    for (id, next) in [alone, child].into_iter().zip(next) {
        let found = place.run(&["confirm", &end(id), "not-applied", "--as", "ann", "--yes"]);
        found.shows(&[&format!(
            "{id} confirmed: it did not take effect; next: `{prefix} {next}`\n"
        )]);
    }
}

#[tokio::test]
async fn options_that_do_not_fit_are_refused() {
    let place = Place::new().await;
    let doubt = end(place.doubt("bob@example.com").await);
    for more in [
        &["applied", "--override"][..],
        &["applied", "--reason", "x"],
        &["not-applied", "--receipt", "x"],
        &["perhaps"],
        &[],
    ] {
        let arguments = [&["confirm", &*doubt, "--as", "ann", "--yes"][..], more].concat();
        assert_eq!(place.run(&arguments).code, 2, "{more:?}");
    }
}
