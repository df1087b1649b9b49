//! Decisions of people about gates, and gates that are no longer needed.

use machine::{
    contract::{Action, Contract, Settled},
    store::LoadError,
    view::Label,
};
use machine_tests::{
    actors::{ecs_node, reasoning_node, tool_node},
    assert_err,
    samples::{asked_in, mail, pending_mail, receipt},
};

use serde_json::json;

use crate::cli::support::{Place, end};

#[tokio::test]
async fn what_is_approved_runs() {
    let place = Place::new().await;
    let (gate, planned) = place.ask("bob@example.com").await;
    let before = place.position().await;
    let ran = place.run(&["approve", &end(gate.id()), "--as", "ann"]);
    ran.failed(2, "`--yes`");
    assert!(ran.err.contains("Allow email.send? It cannot be taken back."), "{ran:?}");
    assert!(ran.err.contains("bob@example.com"), "{ran:?}");
    assert_eq!(place.position().await, before);

    let ran = place.run(&["approve", &end(gate.id()), "--as", "ann", "--yes"]);
    let follow = format!("a worker runs {0}; follow it with `show {0}`\n", planned.id());
    assert!(ran.done().ends_with(&follow), "{ran:?}");
    let settled = place.store.perform(planned, receipt("250 queued"), tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));

    let second = place.run(&["approve", &end(gate.id()), "--as", "bob", "--yes"]);
    second.failed(1, "was approved by ann");
}

/// The decider is shown to everyone; the names of programs are for diagnosis.
#[tokio::test]
async fn people_see_who_decided() {
    let place = Place::new().await;
    let (gate, planned) = place.ask("bob@example.com").await;
    place.run(&["approve", &end(gate.id()), "--as", "ann", "--yes"]).done();
    let id = planned.id();
    let _ = place.store.perform(planned, receipt("250 queued"), tool_node()).await.unwrap();
    let show = |id| place.run(&["show", &end(id)]).done().to_owned();
    assert!(show(gate.id()).contains("answered     by ann"), "{}", show(gate.id()));
    assert!(show(id).contains("approved     by ann"), "{}", show(id));
    let timeline = place.run(&["timeline", &end(gate.id())]);
    assert!(timeline.done().contains("human ann"), "{timeline:?}");
    let timeline = place.json(&["timeline", &end(id)]);
    let events = timeline["events"].as_array().unwrap();
    assert!(events.iter().all(|event| event["person"].is_null()), "{timeline}");

    let order = place.order().await;
    place
        .run(&["send", &end(order), "cancel", "--payload", r#"{"reason": ""}"#, "--as", "ann"])
        .done();
    assert!(show(order).contains("by ann"), "{}", show(order));
}

#[tokio::test]
async fn nothing_is_decided_without_a_name() {
    let place = Place::new().await;
    let (gate, _planned) = place.ask("bob@example.com").await;
    place.run(&["approve", &end(gate.id()), "--yes"]).failed(2, "--as <NAME>");
    place.run(&["approve", &end(gate.id()), "--yes", "--as", " "]).failed(2, "the name is empty");
    let hidden = place.run(&["approve", &end(gate.id()), "--yes", "--as", "ann\u{202e}"]);
    hidden.failed(2, "invisible character");
    assert_eq!(place.label(gate.id()).await, Label::Waiting);
}

#[tokio::test]
async fn several_are_decided_together_or_none() {
    let place = Place::new().await;
    let (first, _a) = place.ask("a@example.com").await;
    let (second, _b) = place.ask("b@example.com").await;
    let (third, _c) = place.ask("c@example.com").await;
    let ids = [&*end(first.id()), &*end(second.id()), &*end(third.id())];
    place.run(&["decline", ids[2], "--as", "ann", "--yes", "--reason", "no"]).done();

    place.run(&["approve", ids[0], ids[2], "--as", "ann", "--yes"]).failed(1, "declined by ann");
    assert_eq!(place.label(first.id()).await, Label::Waiting);
    let document = place.json(&["approve", ids[0], ids[1], ids[0], "--as", "ann", "--yes"]);
    assert_eq!(document["decided"].as_array().unwrap().len(), 2, "{document}");
    assert_eq!(document["decided"][1]["by"], "ann");
    assert_eq!(place.label(first.id()).await, Label::Success);
    assert_eq!(place.label(second.id()).await, Label::Success);
}

#[tokio::test]
async fn what_is_declined_never_runs() {
    let place = Place::new().await;
    let (gate, planned) = place.ask("bob@example.com").await;
    let ran = place.run(&["decline", &end(gate.id()), "--as", "ann", "--yes", "--reason", "wrong"]);
    ran.done();
    assert_eq!(place.label(gate.id()).await, Label::Rejected);
    let id = planned.id();
    assert_eq!(place.label(id).await, Label::Cancelled);
    place.store.perform(planned, receipt("250 queued"), tool_node()).await.unwrap_err();
    place.run(&["cancel", &end(id), "--as", "ann"]).failed(1, "nothing to cancel");
    let shown = place.json(&["show", &end(id)]);
    assert_eq!(shown["execution"]["error_message"], "not approved: wrong", "{shown}");
    assert_eq!(shown["execution"]["release"], "refused", "{shown}");
}

#[tokio::test]
async fn what_is_not_needed_is_cancelled() {
    let place = Place::new().await;
    let mut pending = pending_mail("bob@example.com");
    place.store.create(&mut pending).await.unwrap();
    let (gate, planned) = place.ask("eve@example.com").await;
    let contract = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
    let mut question = asked_in(contract);
    place.store.create(&mut question).await.unwrap();
    let ids = [pending.id(), gate.id(), question.id()];
    let texts = ids.map(end);
    let document =
        place.json(&["cancel", &texts[0], &texts[1], &texts[2], "--as", "ann", "--reason", "done"]);
    assert_eq!(document["cancelled"].as_array().unwrap().len(), 3);
    for id in ids {
        assert_eq!(place.label(id).await, Label::Cancelled);
    }
    assert_err!(place.store.gate(gate.id()).await, LoadError::NotAGate { .. });
    let again = place.run(&["cancel", &texts[0], "--as", "ann"]);
    again.failed(1, "is CANCELLED, so there is nothing to cancel");
    // It ended with its gate.
    assert_eq!(place.label(planned.id()).await, Label::Cancelled);
    // All are looked at before the first one is changed.
    let mut other = pending_mail("tom@example.com");
    place.store.create(&mut other).await.unwrap();
    let ran = place.run(&["cancel", &end(other.id()), &texts[0], "--as", "ann"]);
    ran.failed(1, "nothing to cancel");
    assert_eq!(place.label(other.id()).await, Label::NotStarted);
}

/// Nothing is left to approve, so no question is asked, and each command that is offered works.
#[tokio::test]
async fn a_gate_ends_with_the_mail_that_it_guards() {
    let place = Place::new().await;
    let (gate, planned) = place.ask("bob@example.com").await;
    place.run(&["cancel", &end(planned.id()), "--as", "ann", "--reason", "wrong address"]).done();
    assert_eq!(place.label(gate.id()).await, Label::Cancelled);
    let attention = place.json(&["list", "--attention-only"]);
    assert_eq!(attention["attention"]["concerns"], json!([]), "{attention}");
    let late = place.run(&["approve", &end(gate.id()), "--as", "bob", "--yes"]);
    late.failed(1, "is CANCELLED (wrong address)");

    // Both at once, in either order.
    for is_gate_first in [true, false] {
        let (gate, planned) = place.ask("eve@example.com").await;
        let mut ids = [end(planned.id()), end(gate.id())];
        if is_gate_first {
            ids.reverse();
        }
        place.run(&["cancel", &ids[0], &ids[1], "--as", "ann"]).done();
        assert_eq!(place.label(gate.id()).await, Label::Cancelled);
        assert_eq!(place.label(planned.id()).await, Label::Cancelled);
    }
}

/// The action behind the gate is missing: an older program may have cancelled it alone.
#[tokio::test]
async fn a_gate_with_nothing_behind_it_is_only_cancelled() {
    let place = Place::new().await;
    let (mut gate, _never_stored) =
        mail("bob@example.com").ask::<Action>(None, ecs_node()).unwrap();
    place.store.batch().create(gate.machine()).write().await.unwrap();
    let shown = place.json(&["show", &end(gate.id())]);
    let steps: Vec<_> = shown["next"].as_array().unwrap().iter().map(|step| &step["do"]).collect();
    assert_eq!(steps, ["cancel"], "{shown}");
    let refused = place.run(&["approve", &end(gate.id()), "--as", "ann", "--yes"]);
    refused.failed(1, &format!("`cancel {}`", gate.id()));
    place.run(&["cancel", &end(gate.id()), "--as", "ann"]).done();
}

/// An expired gate does not list `approve` and `decline` as next steps.
#[tokio::test]
async fn an_expired_gate_is_not_offered() {
    let place = Place::new().await;
    let limit = Some(std::time::Duration::from_millis(1));
    let (mut gate, mut planned) = mail("bob@example.com").ask::<Action>(limit, ecs_node()).unwrap();
    place.store.ask(&mut gate, &mut planned).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let shown = place.json(&["show", &end(gate.id())]);
    let steps: Vec<_> = shown["next"].as_array().unwrap().iter().map(|step| &step["do"]).collect();
    assert_eq!(steps, ["cancel"], "{shown}");
    place.run(&["approve", &end(gate.id()), "--as", "ann", "--yes"]).failed(1, "expired");
    place.run(&["cancel", &end(gate.id()), "--as", "ann"]).done();
}

#[tokio::test]
async fn what_failed_is_tried_again() {
    let place = Place::new().await;
    let failed = place.failed("bob@example.com").await;
    place.run(&["retry", &end(failed), "--as", "ann"]).failed(2, "Allow email.send?");
    let document = place.json(&["retry", &end(failed), "--as", "ann", "--yes"]);
    let attempt = document["attempt"].as_str().unwrap().parse().unwrap();
    assert_eq!(place.label(attempt).await, Label::NotStarted);
    // Repeating the command, or losing a race, makes no second attempt.
    let twice = place.run(&["retry", &end(failed), "--as", "bob", "--yes"]);
    twice.failed(1, "is another attempt at the same action");
    let planned = place.store.planned(attempt).await.unwrap();
    let settled = place.store.perform(planned, receipt("250 queued"), tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
    let again = place.run(&["retry", &end(failed), "--as", "ann", "--yes"]);
    assert_eq!(again.code, 1, "{again:?}");
    place.run(&["retry", &end(attempt), "--as", "ann", "--yes"]).failed(1, "is SUCCESS");
}

/// `show` of a mail behind a gate names the gate and the commands that answer it.
#[tokio::test]
async fn what_waits_behind_a_gate_says_so() {
    let place = Place::new().await;
    let (gate, planned) = place.ask("bob@example.com").await;
    let id = end(planned.id());
    let shown = place.run(&["show", &id]);
    let waits = format!("waits for    a person, who answers its gate {}", gate.id());
    assert!(shown.done().contains(&waits), "{shown:?}");
    assert!(shown.out.contains("Allow email.send? It cannot be taken back."), "{shown:?}");
    for command in ["approve", "decline"] {
        assert!(shown.out.contains(&format!("{command} {} --as NAME", gate.id())), "{shown:?}");
    }
    assert!(shown.out.contains(&format!("cancel {} --as NAME", planned.id())), "{shown:?}");
    let wrong = place.run(&["approve", &id, "--as", "ann", "--yes"]);
    wrong.failed(1, &format!("instead: `approve {} --as NAME`", gate.id()));

    place.run(&["approve", &end(gate.id()), "--as", "ann", "--yes"]).done();
    let shown = place.json(&["show", &id]);
    assert_eq!(shown["gate"], json!(null));
    assert_eq!(shown["next"].as_array().unwrap().len(), 1, "{shown}");
}

/// A script must not take what was done for what failed.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_is_done_is_done_although_nobody_can_be_told() {
    let place = Place::new().await;
    let untold = |arguments: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        // The same as `Ran::of`, with another output.
        let output = place.command(arguments).stdout(full).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (gate, planned) = place.ask("bob@example.com").await;
    let (id, mail) = (end(gate.id()), end(planned.id()));
    let (doubt, failed) =
        (place.doubt("eve@example.com").await, place.failed("joe@example.com").await);
    let order = place.order().await;
    let copy = place.folder().join("copy.db");
    for arguments in [
        &["approve", &id, "--as", "ann", "--yes"][..],
        &["cancel", &mail, "--as", "ann", "--json"],
        &["confirm", &end(doubt), "applied", "--as", "ann", "--yes"],
        &["retry", &end(failed), "--as", "ann", "--yes"],
        &["send", &end(order), "confirm", "--as", "ann", "--payload", r#"{"amount": 1}"#],
        &["backup", copy.to_str().unwrap()],
        &["prune", "--ended-for", "0s", "--as", "ann", "--yes"],
    ] {
        let (code, text) = untold(arguments);
        assert_eq!(code, Some(6), "{arguments:?}: {text}");
        assert!(text.contains("it is done, but the output could not be written"), "{text}");
    }
    assert_err!(place.store.gate(gate.id()).await, LoadError::NotFound { .. });
    assert!(copy.exists());
    // Read-only commands have failed.
    for arguments in [&["list"][..], &["prune", "--ended-for", "0s", "--dry-run"]] {
        assert_eq!(untold(arguments).0, Some(1), "{arguments:?}");
    }
}
