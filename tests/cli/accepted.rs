//! Calls that their service has accepted, and has not reported about (EX-8).

use machine::{contract::Report, view::Label};
use machine_tests::cluster::{Deploy, REFERENCE, accepted, live};

use crate::cli::support::{Place, end};

#[tokio::test]
async fn show_says_what_it_waits_for() {
    let place = Place::new().await;
    let call = accepted(&place.store, 17).await;
    let id = end(call.id);
    let shown = place.run(&["show", &id]);
    let says = "waits for    the report of its service, which has accepted it; due ";
    assert!(shown.done().contains(says), "{shown:?}");
    assert!(!shown.done().contains(REFERENCE) && !shown.done().contains("Question"), "{shown:?}");
    let shown = place.run(&["show", &id, "--audience", "internal"]);
    assert!(shown.done().contains(&format!("reference    {REFERENCE}")), "{shown:?}");
    let list = place.run(&["list"]);
    assert!(!list.done().contains("Needs attention"), "{list:?}");
}

#[tokio::test]
async fn a_person_puts_it_in_doubt() {
    let place = Place::new().await;
    let call = accepted(&place.store, 17).await;
    let id = end(call.id);
    place.run(&["cancel", &id, "--as", "ann"]).failed(1, "to put it in doubt");
    place.run(&["respond", &id, "yes", "--as", "ann"]).failed(1, "the report of its service");
    assert_eq!(place.label(call.id).await, Label::Waiting);
    place.run(&["fence", &id, "--as", "ann", "--yes"]).done();
    assert_eq!(place.label(call.id).await, Label::InDoubt);
    let list = place.run(&["list", "--audience", "internal"]);
    assert!(list.done().contains(REFERENCE), "{list:?}");
    let report = Report::Applied(live(17));
    assert!(place.store.report::<Deploy>(call.id, report, &call.token).await.is_ok());
    assert_eq!(place.label(call.id).await, Label::Success);
}
