//! The commands that the command line prints run as they are printed.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
};

use machine::store::OpenOptions;

use super::{Place, Ran, bare, situations};

/// The commands in a text: each ends with its line, its backquotes or its column.
fn commands<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    let starts = text.match_indices(prefix).map(|(start, _)| &text[start..]);
    let ends = |text: &'a str| text.split(['\n', '`', '│']).next().unwrap_or_default().trim_end();
    starts.map(ends).collect()
}

/// The command with what people have to add.
fn filled(command: &str) -> String {
    let mut filled = command.replace("'applied|not-applied'", "applied");
    for (gap, value) in [
        (" ''", " 8080"),
        (r#""amount": .."#, r#""amount": 3"#),
        (r#""note": .."#, r#""note": "now""#),
        (r#""reason": .."#, r#""reason": "late""#),
    ] {
        filled = filled.replace(gap, value);
    }
    assert!(!filled.contains(".."), "{filled}");
    if ["approve", "decline", "confirm", "retry", "fence"].contains(&verb(command)) {
        filled.push_str(" --yes");
    }
    filled
}

/// The word before the id of the machine.
fn verb(command: &str) -> &str {
    let words: Vec<&str> = command.split(' ').collect();
    let is_option = |word: &str| word.starts_with("--");
    let at = (1..words.len()).find(|at| !is_option(words[*at]) && !is_option(words[at - 1]));
    words[at.expect(command)]
}

fn shell(command: &str) -> Ran {
    let mut shell = Command::new("sh");
    Ran::of(shell.arg("-c").arg(command).env_remove("MACHINE_DB").stdin(Stdio::null()))
}

/// Each command is run on a copy of its own. Of those in the list and in refusals, one of each verb.
#[tokio::test(flavor = "multi_thread")]
async fn every_command_runs_as_it_is_printed() {
    let place = Place::new().await;
    let (mut shown, mut refusals) = (String::new(), String::new());
    for (number, situation) in (0..).zip(situations()) {
        let id = place.make(situation, number).await.id.to_string();
        shown.push_str(place.run(&["show", &id]).done());
        if situation != "contradicted" {
            let refused = place.run(&["acknowledge", &id, "--as", "ann"]);
            assert_eq!(refused.code, 1, "{situation}: {refused:?}");
            refusals.push_str(&refused.err);
        }
    }
    let listed = place.run(&["list"]);
    let prefix = place.prefix();
    let mut printed = commands(&shown, &prefix);
    for text in [listed.done(), &*refusals] {
        let found = commands(text, &prefix);
        let one_each: BTreeMap<_, _> = found.into_iter().map(|it| (verb(it), it)).collect();
        assert!(one_each.len() > 3, "{text}");
        printed.extend(one_each.into_values());
    }
    for needed in ["approve", "confirm", "send", "requeue", "retry", "respond", "acknowledge"] {
        assert!(printed.iter().any(|command| verb(command) == needed), "{needed}: {printed:?}");
    }
    printed.sort_unstable();
    printed.dedup();
    for (number, command) in printed.into_iter().enumerate() {
        let copy = place.folder().join(format!("{number}.db")).display().to_string();
        place.run(&["backup", &copy]).done();
        let file = place.file().display().to_string();
        let ran = shell(&filled(command).replace(&file, &copy));
        // The question that is answered only continues.
        let is_answered = ran.code == 1 && ran.err.contains("without a text resumes it");
        assert!(ran.code == 0 || is_answered, "{command}: {ran:?}");
    }
}

#[tokio::test]
async fn commands_have_the_key_file_that_was_given() {
    let place = Place::with(&OpenOptions::new().key([7; 32])).await;
    drop(place.gate("bob@example.com").await);
    let key = place.folder().join("the key");
    fs::write(&key, [7; 32]).unwrap();
    let mut list = bare(&["list", "--db"]);
    let listed = Ran::of(list.arg(place.file()).arg("--key-file").arg(&key));
    let approve = commands(listed.done(), &place.prefix())[0];
    let prefix = format!("{} --key-file '{}' approve ", place.prefix(), key.display());
    assert!(approve.starts_with(&prefix), "{approve}");
    shell(&format!("{approve} --yes")).done();
}
