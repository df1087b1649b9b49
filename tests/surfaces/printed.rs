//! The commands that the command line prints run as they are printed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::{Command, Stdio},
};

use machine::store::OpenOptions;
use machine_tests::random::Random;
use serde_json::{Map, Value};

use super::{Place, Ran, bare, situations};

/// The commands in a text: each ends with its line, its backquotes or its column.
fn commands<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let starts = text.match_indices(prefix).map(|(start, _)| &text[start..]);
    let ends = |text: &'a str| text.split(['\n', '`', '│']).next().unwrap_or_default().trim_end();
    starts.map(ends).collect()
}

/// The command with what people have to add.
fn filled(command: &str) -> String {
    let mut filled = command.to_owned();
    for (gap, value) in [
        (" ''", " 8080"),
        (r#""<u32>""#, "3"),
        (r#""<Option<String>>""#, r#""now""#),
        (r#""<String>""#, r#""late""#),
    ] {
        filled = filled.replace(gap, value);
    }
    assert!(!filled.contains('<'), "{filled}");
    if ["approve", "decline", "confirm", "retry", "fence"].contains(&names(command)[0]) {
        filled.push_str(" --yes");
    }
    filled
}

/// The words of a command, as a shell takes them.
fn words(command: &str) -> Vec<String> {
    let printed = shell(&format!("printf '%s\\n' {command}"));
    printed.done().lines().map(str::to_owned).collect()
}

/// The verb and the trigger of a command.
fn names(command: &str) -> Vec<&str> {
    let is_name = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    command.split(' ').filter(is_name).collect()
}

fn shell(command: &str) -> Ran {
    let mut shell = Command::new("sh");
    Ran::of(shell.arg("-c").arg(command).env_remove("MACHINE_DB").stdin(Stdio::null()))
}

/// It has run, or was about a question that has an answer, which only continues.
fn has_run(ran: &Ran) -> bool {
    ran.code == 0 || ran.code == 1 && ran.err.contains("without a text resumes it")
}

/// Runs the commands of a text, one of each verb and trigger, each on a copy of the file, and notes
/// the verbs.
fn run_all(place: &Place, text: &str, verbs: &mut BTreeSet<String>) {
    let prefix = place.prefix();
    let found = commands(text, &prefix).into_iter().map(|command| (names(command), command));
    for (names, command) in found.collect::<BTreeMap<_, _>>() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.db").display().to_string();
        place.run(&["backup", &copy]).done();
        let file = place.file().display().to_string();
        if let Some(at) = words(command).iter().position(|word| word == "--payload") {
            let payload: Map<String, Value> =
                serde_json::from_str(&words(command)[at + 1]).unwrap();
            let gap = payload.iter().find(|(_, value)| value.as_str().unwrap().starts_with('<'));
            let refused = shell(&command.replace(&file, &copy));
            refused.failed(1, "fill in the payload of ");
            refused.failed(1, gap.unwrap().0);
        }
        let ran = shell(&filled(command).replace(&file, &copy));
        assert!(has_run(&ran), "{command}: {ran:?}");
        verbs.insert(names[0].to_owned());
    }
}

/// In each situation, and of all machines together.
#[tokio::test(flavor = "multi_thread")]
async fn every_command_runs_as_it_is_printed() {
    let place = Place::new().await;
    let mut verbs = BTreeSet::new();
    for (number, situation) in (0..).zip(situations()) {
        let id = place.make(situation, number).await.id.to_string();
        run_all(&place, place.run(&["show", &id]).done(), &mut verbs);
        if situation != "contradicted" {
            let refused = place.run(&["acknowledge", &id, "--as", "ann"]);
            assert_eq!(refused.code, 1, "{situation}: {refused:?}");
            run_all(&place, &refused.err, &mut verbs);
        }
    }
    run_all(&place, place.run(&["list"]).done(), &mut verbs);
    let offered = "acknowledge approve cancel confirm decline requeue respond retry send show";
    assert_eq!(verbs.into_iter().collect::<Vec<_>>().join(" "), offered);
}

/// Also after others that were printed: walks in copies of a file with all situations.
#[tokio::test(flavor = "multi_thread")]
async fn commands_run_after_each_other() {
    let mut random = Random::of("printed commands");
    let place = Place::new().await;
    for (number, situation) in (0..).zip(situations()) {
        place.make(situation, number).await;
    }
    for _ in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.db").display().to_string();
        place.run(&["backup", &copy]).done();
        let prefix = place.prefix().replace(&place.file().display().to_string(), &copy);
        let (mut walked, mut printed) = (Vec::new(), String::new());
        for _ in 0..6 {
            printed.push_str(shell(&format!("{prefix} list")).done());
            let command = (*random.pick(&commands(&printed, &prefix))).to_owned();
            let ran = shell(&filled(&command));
            walked.push(command);
            assert!(has_run(&ran), "{walked:#?}: {ran:?}");
            let id = walked[walked.len() - 1][prefix.len()..].split_whitespace().nth(1).unwrap();
            printed = ran.out + shell(&format!("{prefix} show {id}")).done();
        }
    }
}

/// For each situation and each command, one of those that its refusals name.
#[tokio::test(flavor = "multi_thread")]
async fn every_command_of_a_refusal_runs_as_it_is_printed() {
    let place = Place::new().await;
    let mut verbs = BTreeSet::new();
    for refusals in place.refusals().await.into_values() {
        run_all(&place, &refusals, &mut verbs);
    }
    for verb in ["approve", "cancel", "confirm", "fence", "requeue", "send", "show"] {
        assert!(verbs.contains(verb), "{verb}: {verbs:?}");
    }
}

#[tokio::test]
async fn commands_have_the_key_file_that_was_given() {
    let place = Place::with(&OpenOptions::new().key([7; 32])).await;
    drop(place.gate("bob@example.com").await);
    let key = place.folder().join("the key");
    fs::write(&key, [7_u8; 32]).unwrap();
    let mut list = bare(&["list", "--db"]);
    let listed = Ran::of(list.arg(place.file()).arg("--key-file").arg(&key));
    let approve = commands(listed.done(), &place.prefix())[0];
    let prefix = format!("{} --key-file '{}' approve ", place.prefix(), key.display());
    assert!(approve.starts_with(&prefix), "{approve}");
    shell(&format!("{approve} --yes")).done();
}

/// A shell reads the name that the file has, whatever it looks like; a terminal shows no characters
/// that mislead.
#[tokio::test]
async fn commands_name_the_file_whatever_it_is_called() {
    let place = Place::new().await;
    drop(place.gate("bob@example.com").await);
    let program = format!("{} --db ", env!("CARGO_BIN_EXE_machine-cli"));
    for name in [
        "-x.db",
        "--db.db",
        "--",
        "данные.db",
        "αρχείο.db",
        "קובץ.db",
        "ملف.db",
        "का.db",
        "cafe\u{301}.db",
        "½ a×b ﬁle.db",
        "\u{441}\u{43e}\u{440}\u{443}.db",
        "it's $HOME %s \\n.db",
        "[SUCCESS].db",
        "⚠IRREVERSIBLE.db",
        "[human-confirmed].db",
        "a\tb\nc\u{1b}[31m\u{a0}\u{202e}.db",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        place.run(&["backup", file.to_str().unwrap()]).done();
        let run = |command: &str| {
            let mut shell = Command::new("sh");
            let shell = shell.arg("-c").arg(command).current_dir(folder.path());
            Ran::of(shell.env_remove("MACHINE_DB").stdin(Stdio::null()))
        };
        let mut list = bare(&["list", &format!("--db={name}")]);
        let listed = Ran::of(list.current_dir(folder.path()));
        let approve = commands(listed.done(), &program)[0];
        assert!(!approve.contains(|one: char| one.is_control() || one == '\u{202e}'), "{approve}");
        let approved = run(&format!("{approve} --yes"));
        let show = commands(approved.done(), &program)[0];
        run(show).shows(&["bob@example.com"]);
    }
}
