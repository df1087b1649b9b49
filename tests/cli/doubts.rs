//! Actions in doubt, and calls whose worker is shut out.

use std::{process::Stdio, sync::Arc};

use machine::{
    contract::{Action, Call, service_fn},
    store::{OpenOptions, Store},
    view::Label,
};
use machine_tests::{actors::tool_node, samples::pending_mail};
use tokio::sync::Notify;

use crate::cli::support::{Place, end};

#[tokio::test]
async fn a_person_confirms_that_it_took_place() {
    let place = Place::new().await;
    let doubt = place.doubt("bob@example.com").await;
    let ran = place.run(&["confirm", &end(doubt), "applied", "--as", "ann"]);
    ran.failed(2, "Your answer: it took effect.");
    assert_eq!(place.label(doubt).await, Label::InDoubt);
    let done = ["confirm", &end(doubt), "applied", "--as", "ann", "--yes", "--receipt", "seen"];
    place.run(&done).done();
    assert_eq!(place.label(doubt).await, Label::Success);
    let shown = place.run(&["show", &end(doubt)]);
    assert!(shown.done().contains("result       seen"), "{shown:?}");
    place.run(&done).failed(1, "is not in doubt: ann has already confirmed that it took place");
}

#[tokio::test]
async fn not_applied_waits_for_the_worker_unless_overridden() {
    let place = Place::new().await;
    let mut pending = pending_mail("bob@example.com");
    place.store.create(&mut pending).await.unwrap();
    // Its worker is this process.
    let (running, permit) = place.store.begin(pending, tool_node()).await.unwrap();
    let doubt = running.id();
    place.run(&["fence", &end(doubt), "--as", "ann", "--yes"]).done();
    let refused = place.run(&["confirm", &end(doubt), "not-applied", "--as", "ann", "--yes"]);
    refused.failed(1, "`--override` does so");
    assert_eq!(place.label(doubt).await, Label::InDoubt);
    let arguments = ["confirm", &end(doubt), "not-applied", "--as", "ann", "--yes", "--override"];
    assert_eq!(place.json(&arguments)["overridden"], true);
    assert_eq!(place.label(doubt).await, Label::Failed);
    drop(permit);
}

#[tokio::test]
async fn not_applied_after_the_worker_has_ended() {
    let mut place = Place::new().await;
    let doubt = place.doubt("bob@example.com").await;
    place.store.close().await.unwrap();
    place.store = Store::memory();
    let arguments = ["confirm", &end(doubt), "not-applied", "--as", "ann", "--yes"];
    place.run(&arguments).done();
    place.store = OpenOptions::new().sqlite(place.file()).await.unwrap();
    assert_eq!(place.label(doubt).await, Label::Failed);
}

/// A program that drops its call is told which process to restart.
#[tokio::test]
async fn a_call_that_was_cut_off_names_its_process() {
    let place = Place::new().await;
    let mut pending = pending_mail("bob@example.com");
    place.store.create(&mut pending).await.unwrap();
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
    place.run(&["cancel", &doubt, "--as", "ann"]).failed(1, "is in doubt");
}

#[tokio::test]
async fn a_worker_is_shut_out() {
    let place = Place::new().await;
    let mut pending = pending_mail("bob@example.com");
    place.store.create(&mut pending).await.unwrap();
    let early = place.run(&["fence", &end(pending.id()), "--as", "ann"]);
    early.failed(1, "PENDING");
    assert!(!early.err.contains("perform_again"), "{early:?}");
    assert!(early.err.contains(&format!("instead: `cancel {} --as", pending.id())), "{early:?}");
    let (running, permit) = place.store.begin(pending, tool_node()).await.unwrap();
    let id = running.id();
    place.run(&["cancel", &end(id), "--as", "ann"]).failed(1, "is running");
    let asked = place.run(&["fence", &end(id), "--as", "ann"]);
    asked.failed(
        2,
        "The call may have taken effect, so it is in doubt until a receipt or a person settles it.",
    );
    assert!(asked.err.contains("\"bob@example.com\""), "{asked:?}");
    assert_eq!(place.label(id).await, Label::InProgress);
    assert!(place.json(&["fence", &end(id), "--as", "ann", "--yes"])["question"].is_string());
    assert_eq!(place.label(id).await, Label::InDoubt);
    drop(permit);
}

/// Several people at once: one finding is recorded, and the others learn whose it is.
#[tokio::test]
async fn who_is_slower_learns_what_was_confirmed() {
    let place = Place::new().await;
    for round in 0..4 {
        let doubt = place.doubt(&format!("bob{round}@example.com")).await;
        let confirm = |by: &str, found: &str| {
            let mut command = place.command(&["confirm", &end(doubt), found, "--as", by, "--yes"]);
            if found == "not-applied" {
                command.arg("--override");
            }
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let people = [("ann", "applied"), ("bob", "not-applied"), ("eve", "applied")];
        let running = people.map(|(by, found)| confirm(by, found));
        let ended = running.map(|child| child.wait_with_output().unwrap());
        let winners = || people.iter().zip(&ended).filter(|(_, ended)| ended.status.success());
        assert_eq!(winners().count(), 1, "{ended:?}");
        let ((winner, found), _) = winners().next().unwrap();
        let found = if *found == "applied" { "took place" } else { "did not take place" };
        for loser in ended.iter().filter(|ended| !ended.status.success()) {
            assert_eq!(loser.status.code(), Some(1), "{loser:?}");
            let told = String::from_utf8_lossy(&loser.stderr);
            let expected = format!("{winner} has already confirmed that it {found}");
            assert!(told.contains(&expected), "{expected}: {told}");
            assert!(told.contains(&format!("`show {doubt}`")), "{told}");
        }
    }
}

/// Truncation is announced, and `--whole` shows the full text before the answer.
#[tokio::test]
async fn long_arguments_are_shown_whole_where_a_person_asks_for_them() {
    let place = Place::new().await;
    let long = format!("{}@example.com", "b".repeat(3000));
    let (doubt, failed) = (place.doubt(&long).await, place.failed(&format!("x{long}")).await);
    let (doubt, failed) = (end(doubt), end(failed));
    for command in [&["confirm", &*doubt, "applied"][..], &["retry", &failed]] {
        let command = [command, &["--as", "ann"]].concat();
        let cut = place.run(&command);
        cut.failed(2, "NOT SHOWN HERE: ");
        cut.failed(2, "`--whole` shows all of it.");
        let whole = place.run(&[&*command, &["--whole"]].concat());
        let characters = whole.err.replace("\n        ", "");
        assert!(characters.contains(&long), "{whole:?}");
        assert!(!whole.err.contains("NOT SHOWN HERE"), "{whole:?}");
        // A person who decides with `--yes` sees it, too.
        let decided = place.run(&[&*command, &["--whole", "--yes"]].concat());
        decided.done();
        assert!(decided.err.replace("\n        ", "").contains(&long), "{decided:?}");
    }
}
