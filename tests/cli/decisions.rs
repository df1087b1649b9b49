//! Decisions on the command line: the question and the report. The acts themselves are in
//! `surfaces::acts`.

use machine::{Id, effects::StateError, store::LoadError, view::Label};
use machine_tests::{
    actors::tool_node,
    assert_err,
    samples::{contradicted, receipt},
};
use serde_json::json;

use crate::surfaces::{Place, end};

/// Without `--yes`, and without a terminal, nothing is decided; what would be is shown.
#[tokio::test]
async fn a_decision_is_shown_before_it_is_made() {
    let place = Place::new().await;
    let gate = end(place.gate("bob@example.com").await.0.id());
    let failed = end(place.failed("eve@example.com").await);
    let doubt = end(place.doubt("joe@example.com").await);
    let running = end(place.running("zoe@example.com").await);
    let before = place.store.position().await.unwrap();
    for (command, texts) in [
        (&["approve", &*gate][..], ["Allow email.send? This cannot be undone.", "bob@example.com"]),
        (&["decline", &gate], ["Decline email.send? It will never run.", "bob@example.com"]),
        (&["retry", &failed], ["Allow email.send?", "eve@example.com"]),
        (&["confirm", &doubt, "applied"], ["Your answer: it took effect.", "joe@example.com"]),
        (
            &["fence", &running],
            [
                "The call may have taken effect, so it is in doubt until a receipt or a person settles it.",
                "\"zoe@example.com\"",
            ],
        ),
    ] {
        let asked = place.run(&[command, &["--as", "ann"]].concat());
        asked.failed(2, "`--yes`");
        for text in texts {
            asked.failed(2, text);
        }
        assert_eq!(place.store.position().await.unwrap(), before, "{command:?}");
    }
}

#[tokio::test]
async fn nothing_is_decided_without_a_name() {
    let place = Place::new().await;
    let odd = contradicted(&place.store, "eve@example.com").await;
    let (gate, _planned) = place.gate("bob@example.com").await;
    let (odd, id) = (end(odd), end(gate.id()));
    for command in
        [&["approve", &*id, "--yes"][..], &["acknowledge", &odd], &["respond", &id, "8080"]]
    {
        place.run(command).failed(2, "--as <NAME>");
    }
    place.run(&["approve", &id, "--yes", "--as", " "]).failed(2, "the name is empty");
    let hidden = place.run(&["approve", &id, "--yes", "--as", "ann\u{202e}"]);
    hidden.failed(2, "invisible character");
    assert_eq!(place.label(gate.id()).await, Label::Waiting);
}

/// The decider is shown to everyone; the names of programs are for diagnosis.
#[tokio::test]
async fn people_see_who_decided() {
    let place = Place::new().await;
    let (gate, planned) = place.gate("bob@example.com").await;
    let id = planned.id();
    let approved = place.run(&["approve", &end(gate.id()), "--as", "ann", "--yes"]);
    let prefix = place.prefix();
    let but = "but none has ever opened this file: start the program that has its worker";
    let follow = format!("a worker runs {id}, {but}; follow it with `{prefix} show {id}`\n");
    approved.shows(&[&follow]);
    let show = |id| place.run(&["show", &end(id)]);
    drop(place.store.perform(planned, receipt("250 queued"), tool_node()).await.unwrap());
    show(gate.id()).shows(&["answered     by ann"]);
    show(id).shows(&["approved     by ann"]);
    place.run(&["timeline", &end(gate.id())]).shows(&["human ann"]);
    let timeline = place.json(&["timeline", &end(id)]);
    let events = timeline["events"].as_array().unwrap();
    assert!(events.iter().all(|event| event["person"].is_null()), "{timeline}");
    let order = place.order().await;
    place
        .run(&["send", &end(order), "cancel", "--payload", r#"{"reason": ""}"#, "--as", "ann"])
        .done();
    show(order).shows(&["by ann"]);
    let odd = contradicted(&place.store, "eve@example.com").await;
    place.run(&["acknowledge", &end(odd), "--as", "ann"]).done();
    show(odd).shows(&["acknowledged a person acknowledged"]);
    place.run(&["timeline", &end(odd)]).shows(&["acknowledged by a person"]);
    let listed = place.json(&["list", "--status", "CONTRADICTED"]);
    assert_eq!(listed["attention"]["concerns"], json!([]));
}

/// The words are those of a gate that nobody answered.
#[tokio::test]
async fn executions_that_were_never_called_say_who_ended_them() {
    let place = Place::new().await;
    let words = "not answered in time";
    let (_, cancelled) = place.gate("eve@example.com").await;
    let (gate, declined) = place.gate("zoe@example.com").await;
    let (withdrawn, behind) = place.gate("kim@example.com").await;
    let (cancelled, declined, behind) = (cancelled.id(), declined.id(), behind.id());
    place.run(&["cancel", &end(cancelled), "--as", "bob", "--reason", words]).done();
    place.run(&["cancel", &end(withdrawn.id()), "--as", "dora", "--reason", words]).done();
    let decline = ["decline", &end(gate.id()), "--as", "carl", "--yes", "--reason", words];
    place.run(&decline).done();
    for (id, shown, chinese, by, text) in [
        (cancelled, "cancelled by bob: ", "已被 bob 取消：", "human bob", "cancelled"),
        (behind, "cancelled by dora: ", "已被 dora 取消：", "human dora", "cancelled"),
        (declined, "declined by carl: ", "已被 carl 拒绝：", "human carl", "declined"),
    ] {
        place.run(&["show", &end(id)]).shows(&[&format!("{shown}{words}")]);
        let translated = place.run(&["show", &end(id), "--lang", "zh"]);
        translated.shows(&[&format!("{chinese}{words}")]);
        let ended = format!("ended without a call: {text}");
        place.run(&["timeline", &end(id)]).shows(&[by, &ended]);
    }
}

/// All are checked before the first one is changed; a gate and its mail may be named in either
/// order.
#[tokio::test]
async fn several_machines_are_cancelled() {
    let place = Place::new().await;
    let cancel = |ids: &[Id]| {
        let ids: Vec<_> = ids.iter().map(|id| end(*id)).collect();
        let ids: Vec<_> = ids.iter().map(String::as_str).collect();
        place.run(&[&["cancel"], &*ids, &["--as", "ann", "--json"]].concat())
    };
    let (gate, mail) = place.gate("eve@example.com").await;
    let (other, behind) = place.gate("zoe@example.com").await;
    let all = [
        place.pending("bob@example.com").await,
        place.question().await,
        gate.id(),
        mail.id(),
        behind.id(),
        other.id(),
    ];
    let cancelled = cancel(&all).json();
    assert_eq!(cancelled["cancelled"].as_array().unwrap().len(), all.len());
    for id in all {
        assert_eq!(place.label(id).await, Label::Cancelled);
    }
    let tom = place.pending("tom@example.com").await;
    cancel(&[tom, all[0]]).failed(1, "is CANCELLED, so there is nothing to cancel");
    assert_eq!(place.label(tom).await, Label::NotStarted);
}

/// A script must not mistake a success for a failure.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_decision_stands_when_its_output_fails() {
    let place = Place::new().await;
    let untold = |arguments: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        // The same as `Ran::of`, with another output.
        let output = place.command(arguments).stdout(full).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (gate, planned) = place.gate("bob@example.com").await;
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
    assert_err!(place.store.gate(gate.id()).await, StateError::Load(LoadError::NotFound { .. }));
    assert!(copy.exists());
    // Read-only commands have failed.
    for arguments in [&["list"][..], &["operations"]] {
        assert_eq!(untold(arguments).0, Some(1), "{arguments:?}");
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

/// Checks the age limit of a question, and the number that are continued (EX-7).
#[tokio::test]
async fn a_question_resumes_with_checks() {
    let place = Place::new().await;
    let (id, _other) = (place.question().await, place.question().await);
    let old = ["respond", &end(id), "8080", "--as", "ann", "--max-age", "0s"];
    place.run(&old).failed(1, "the limit is 0 ms");
    // Nothing was stored.
    assert_eq!(place.store.question(id).await.unwrap().answered_by(), None);
    let checks = ["--max-age", "1d", "--resuming", "1"];
    let done = place.json(&[&["respond", &end(id), "8080", "--as", "ann"], &checks[..]].concat());
    assert_eq!(
        done["warnings"][0], "the caller resumes 1 of the session, but 2 were waiting",
        "{done}"
    );
    assert!(done["age_ms"].is_u64(), "{done}");
    assert_eq!(place.label(id).await, Label::Success);
    let other = place.question().await;
    let warned = place.run(&["respond", &end(other), "9090", "--as", "ann", "--resuming", "1"]);
    assert!(warned.done().contains("warning: the caller resumes 1 of the session"), "{warned:?}");
}

/// The text of an act in the operator log if the person gives no reason.
#[tokio::test]
async fn acts_without_a_reason_are_on_record() {
    let place = Place::new().await;
    let (running, pending) =
        (place.running("bob@example.com").await, place.pending("eve@example.com").await);
    place.run(&["fence", &end(running), "--as", "eve", "--yes"]).done();
    place.run(&["cancel", &end(pending), "--as", "bob"]).done();
    place.run(&["cancel", &end(pending), "--as", "dan"]).failed(1, "there is nothing to cancel");
    place.run(&["prune", "--ended-for", "0s", "--as", "tom", "--yes"]).done();
    let log = place.store.operations(10, None).await.unwrap();
    let log: Vec<_> = log.items.into_iter().map(Result::unwrap).collect();
    let found: Vec<_> =
        log.iter().map(|one| (&*one.by, &*one.operation, &*one.machines, &*one.detail)).collect();
    let pruned = ("tom", "prune", &[][..], "that ended at least 0 s ago");
    let expected = [
        // It began, and ended.
        pruned,
        pruned,
        // It does not say that it was cancelled, which was refused.
        ("dan", "cancel", &[pending][..], "no longer needed"),
        ("bob", "cancel", &[pending][..], "no longer needed"),
        ("eve", "fence", &[running][..], "its worker was fenced"),
    ];
    assert_eq!(found, expected);
}
