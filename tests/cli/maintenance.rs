//! `verify`, `check`, `prune`, `backup` and `export`.

use std::fs;

use machine::{
    Id,
    actor::Actors,
    contract::AnyExecution,
    machine,
    store::{OpenError, OpenOptions, Store},
    stored::{Restore, Unverified},
};
use machine_console::cli::{Context, Exit};
use machine_tests::samples::{mail, pending_mail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::surfaces::{AnyOrder, Order, Place, Ran, bare, end, parsed};

#[tokio::test]
async fn a_sound_file_verifies() {
    let place = Place::new().await;
    let doubt = place.doubt("bob@example.com").await;
    place.order().await;
    let verified = place.run(&["verify"]);
    assert!(verified.done().contains("2 machines, ") && verified.out.contains("all as written"));
    let one = place.json(&["verify", &end(doubt)]);
    assert_eq!(one["machines"], 1);
    assert_eq!(one["problems"], json!([]));
    place.run(&["verify", "ffffffffff"]).failed(4, "no machine");
    let checked = place.run(&["check"]);
    assert!(checked.done().contains("order: 1 checked, all can be read"), "{checked:?}");
    // It knows no program.
    assert!(checked.out.contains("no program was compared with it"), "{checked:?}");
    assert!(checked.out.contains("`Context::options`"), "{checked:?}");
}

/// A later version of the same program.
mod later {
    use super::{Deserialize, Serialize, machine};

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Order {
        #[initial]
        #[stable]
        #[on(cancel => Cancelled)]
        Ordered,
        #[terminal]
        Cancelled,
    }
}

/// `check` reports unreadable machines, and the other commands can be used to look at them.
#[tokio::test]
async fn a_program_looks_at_what_it_cannot_read() {
    let place = Place::new().await;
    let id = place.order().await.to_string();
    let options = OpenOptions::new().machine::<later::AnyOrder>();
    let context =
        Context::new(place.file(), Actors::issue("shop").unwrap()).options(options.clone());
    let run =
        async |arguments: &[&str]| machine_console::cli::execute(parsed(arguments), &context).await;
    for command in [&["list"][..], &["show", &id], &["timeline", &id], &["export", &id]] {
        assert_eq!(run(command).await.unwrap(), Exit::Done, "{command:?}");
    }
    assert_eq!(run(&["check"]).await.unwrap(), Exit::Problems);
    let checked = options.check(place.file()).await.unwrap().to_string();
    assert!(checked.contains(&format!("{id} in `asking`")), "{checked}");
    // Opening it to drive it is refused.
    let opened = options.sqlite(place.file()).await;
    assert!(matches!(opened, Err(OpenError::Incompatible { .. })), "{opened:?}");
}

#[tokio::test]
async fn a_new_program_is_checked() {
    let place = Place::new().await;
    let id = place.order().await;
    let file = place.folder().join("new.json");
    let path = file.to_str().unwrap().to_owned();
    let definition = place.run(&["topology", "order", "--definition"]).done().to_owned();
    assert_eq!(definition.trim_end(), serde_json::to_string(AnyOrder::DEFINITION).unwrap());
    fs::write(&file, &definition).unwrap();
    place.run(&["check", "--against", &path]).done();

    // The new program has no state `asking`.
    let mut newer: Value = serde_json::from_str(&definition).unwrap();
    for state in newer["states"].as_array_mut().unwrap() {
        if state["name"] == "asking" {
            state["name"] = "ordered".into();
        }
    }
    fs::write(&file, json!([newer]).to_string()).unwrap();
    let checked = place.run(&["check", "--against", &path]);
    assert_eq!(checked.code, 3, "{checked:?}");
    assert!(checked.out.contains("order: 1 checked, 1 cannot be read"), "{checked:?}");
    assert!(checked.out.contains(&format!("{id} in `asking`: state `asking` was removed")));

    for text in ["", "{}", "[1]", "\u{1b}"] {
        fs::write(&file, text).unwrap();
        place.run(&["check", "--against", &path]).failed(2, "has no definition");
    }
    place.run(&["check", "--against", "/nonexistent"]).failed(2, "cannot read");
    let database = place.file();
    let against = ["check", "--against", database.to_str().unwrap()];
    place.run(&against).failed(2, "it must be JSON with definitions");
}

#[tokio::test]
async fn ended_machines_are_pruned_by_name() {
    let place = Place::new().await;
    let failed = place.failed("bob@example.com").await;
    let order = place.order().await;
    let count = async || place.json(&["list"])["machines"].as_array().unwrap().len();
    place.run(&["prune", "--ended-for", "0s", "--yes"]).failed(2, "--as");
    let asked = place.run(&["prune", "--ended-for", "0s", "--machine", "execution", "--as", "ann"]);
    asked.failed(2, "delete the machines that ended at least 0 s ago, of kind `execution`?");
    place.run(&["prune", "--ended-for", "-1d", "--as", "ann", "--yes"]).failed(2, "");
    for wrong in ["soon", "1mo", "1y", "106751991167d", "90", ""] {
        let ran = place.run(&["prune", "--ended-for", wrong, "--as", "ann", "--yes"]);
        ran.failed(2, "the units are ms, s, m, h, d (24 hours) and w");
        assert!(!ran.err.contains("span") && !ran.err.contains("jiff"), "{ran:?}");
    }
    assert_eq!(count().await, 2);
    // A typo would look as if there were nothing to delete.
    let of = |more: &[&str]| {
        place.run(&[&["prune", "--ended-for", "0s", "--as", "ann", "--yes"], more].concat())
    };
    of(&["--status", "fialed"]).failed(
        2,
        "no machine has a terminal state `fialed`; known: `cancelled`, `completed`, `failed`, `paid`, `rejected`",
    );
    of(&["--status", "waiting"]).failed(2, "no machine has a terminal state `waiting`");
    of(&["--machine", "exection"]).failed(2, "unknown kind `exection`; known: `execution`");
    let kept = place.json(&["prune", "--ended-for", "90d", "--as", "ann", "--yes"]);
    assert_eq!(kept["machines"], 0);
    of(&["--status", "FAILED", "--json"]).done();
    assert_eq!(count().await, 1);
    let gone = place.run(&["show", &failed.to_string()]);
    gone.failed(4, &format!("{failed} was pruned, so its history is gone"));
    assert!(!gone.err.contains("took effect"), "{gone:?}");
    let unknown = place.run(&["show", &Order::new().id().to_string()]);
    unknown.failed(4, "no machine");
    place.run(&["show", &order.to_string()]).done();
    let log = place.run(&["operations"]);
    assert!(log.done().contains("1 machine with"), "{log:?}");
    assert!(place.run(&["verify"]).done().contains("entries were pruned"));
}

/// Planning the same action again names the machine that did it, even after that machine was
/// pruned.
#[tokio::test]
async fn the_action_of_a_pruned_machine_is_not_repeated() {
    let place = Place::new().await;
    let failed = place.failed("bob@example.com").await;
    let done = place.sent(mail("bob@example.com")).await;
    let again = place.run(&["retry", &end(failed), "--as", "ann", "--yes"]);
    again.failed(1, &format!("{done} has already performed this action"));
    assert!(again.err.contains(&format!("`{} show {done}`", place.prefix())), "{again:?}");
    // It was never stored, so it cannot be cancelled.
    let mut third = pending_mail("bob@example.com");
    let error = place.store.create(&mut third).await.unwrap_err().to_string();
    assert!(error.contains(&done.to_string()) && !error.contains("cancel"), "{error}");
    place.order().await;
    place.run(&["prune", "--ended-for", "0s", "--as", "ann", "--yes"]).done();
    let gone = place.run(&["show", &done.to_string()]);
    gone.failed(4, "was pruned, so its history is gone; its action took effect");
}

#[tokio::test]
async fn a_backup_is_a_store() {
    let place = Place::new().await;
    let id = place.order().await;
    let copy = place.folder().join("copy.db");
    let path = copy.to_str().unwrap();
    let document = place.json(&["backup", path]);
    assert_eq!(document["bytes"], fs::metadata(&copy).unwrap().len());
    Ran::of(bare(&["show", &end(id)]).args(["--db", path])).done();
    Ran::of(bare(&["verify"]).args(["--db", path])).done();
    place.run(&["backup", path]).failed(1, "a backup never overwrites a file");
    let nowhere = place.folder().join("none").join("copy.db");
    assert_eq!(place.run(&["backup", nowhere.to_str().unwrap()]).code, 1);
}

#[tokio::test]
async fn an_export_can_be_read_back() {
    let place = Place::new().await;
    let doubt = place.doubt("bob@example.com").await;
    let failed = place.failed("eve@example.com").await;
    place.order().await;
    let one = place.run(&["export", &end(doubt)]);
    let machine: Unverified = serde_json::from_str(one.done()).unwrap();
    let mut machine: AnyExecution = machine.verify().unwrap();
    assert_eq!(machine.id(), doubt);
    Store::memory().create(&mut machine).await.unwrap();
    let several = place.run(&["export", &end(doubt), &end(failed)]);
    let ids: Vec<Id> = several
        .done()
        .lines()
        .map(|line| serde_json::from_str::<Unverified>(line).unwrap().record.id)
        .collect();
    assert_eq!(ids, [doubt, failed]);
    assert_eq!(place.run(&["export", "--all"]).done().lines().count(), 3);
    place.run(&["export"]).failed(2, "required");
    place.run(&["export", "ffffffffffff"]).failed(4, "no machine");
}

#[tokio::test]
async fn a_busy_file_has_its_own_error() {
    let place = Place::with(&OpenOptions::new()).await;
    let id = place.order().await;
    let raw = rusqlite::Connection::open(place.file()).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ran =
        place.run(&["send", &end(id), "confirm", "--as", "ann", "--payload", "{\"amount\":1}"]);
    ran.failed(5, "another process has the database locked");
}

#[tokio::test]
async fn a_special_name_is_refused_for_a_backup() {
    let place = Place::new().await;
    let mut command = place.command(&["backup", ":memory:"]);
    Ran::of(command.current_dir(place.folder())).failed(1, "denotes an in-memory store");
    assert!(!place.folder().join(":memory:").exists());
    // With its folder it is a file.
    let path = place.folder().join(":memory:");
    place.run(&["backup", path.to_str().unwrap()]).done();
}

#[tokio::test]
async fn a_problem_names_its_machine_once() {
    for (edit, name) in [
        ("UPDATE instance SET summary = summary || ' ' WHERE id = ID", None),
        ("DELETE FROM instance WHERE id = ID", Some("machine number 2 is missing from the file")),
    ] {
        let place = Place::new().await;
        place.order().await;
        let failed = place.failed("bob@example.com").await;
        place.edit_machine(failed, edit);
        let verified = place.run(&["verify"]);
        assert_eq!(verified.code, 3, "{verified:?}");
        let name = name.map_or(failed.to_string(), str::to_owned);
        let mut problems = verified.out.lines().filter(|line| line.starts_with("problem: "));
        let line = problems.find(|line| line.contains(&name)).unwrap();
        assert_eq!(line.matches(&name).count(), 1, "{line}");
        assert!(verified.out.matches("is missing from the file").count() < 2, "{verified:?}");
    }
}
