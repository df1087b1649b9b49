//! Output and prompts on a terminal, as a person sees and answers them.
#![cfg(target_os = "linux")]

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::fd::OwnedFd,
    process::Command,
};

use machine::view::Label;
use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::surfaces::{Place, end};

/// Runs a program on a terminal of this width, where a person types this.
fn on_terminal(command: &mut Command, width: u16, typed: &str) -> (i32, String) {
    let terminal: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let program = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let size = Winsize { ws_row: 50, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&program, size).unwrap();
    let mut terminal = File::from(terminal);
    terminal.write_all(typed.as_bytes()).unwrap();
    let copy = || program.try_clone().unwrap();
    let mut child = command.stdin(copy()).stdout(copy()).stderr(copy()).spawn().unwrap();
    // Reading ends once the other side is closed.
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    drop(program);
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
    }
    (child.wait().unwrap().code().unwrap_or(-1), String::from_utf8(shown).unwrap())
}

/// The prompt asks for a decline, too, so `y` cannot be mistaken for an approval.
#[tokio::test]
async fn a_person_is_asked() {
    let place = Place::new().await;
    for (verb, question, decided) in [
        ("approve", "Allow email.send?", Label::Success),
        ("decline", "Decline email.send? It will never run.", Label::Rejected),
    ] {
        let to = format!("{verb}@example.com");
        let (gate, _planned) = place.gate(&to).await;
        let id = end(gate.id());
        for (typed, code, label) in
            [("\n", 1, Label::Waiting), ("n\n", 1, Label::Waiting), ("y\n", 0, decided)]
        {
            let mut command = place.command(&[verb, &id, "--as", "ann"]);
            let (found, shown) = on_terminal(&mut command, 100, typed);
            assert_eq!(found, code, "{verb} {typed:?}: {shown}");
            assert!(shown.contains(question) && shown.contains("[y/N]"), "{shown}");
            let allows = shown.contains("Allow");
            assert!(shown.contains(&to) && allows == (verb == "approve"), "{shown}");
            assert_eq!(place.label(gate.id()).await, label, "{verb} {typed:?}");
        }
    }
}

#[tokio::test]
async fn a_table_fits_and_has_colours() {
    let place = Place::new().await;
    let doubt = place.doubt(&format!("{}@example.com", "bob".repeat(40))).await;
    let (code, shown) = on_terminal(&mut place.command(&["list"]), 80, "");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("\u{1b}[") && shown.contains(&end(doubt)[4..]), "{shown}");

    for (name, value, color) in
        [("NO_COLOR", "1", "auto"), ("TERM", "dumb", "auto"), ("LANG", "C", "never")]
    {
        let mut command = place.command(&["list", "--color", color]);
        let (_, shown) = on_terminal(command.env(name, value), 80, "");
        assert!(!shown.contains('\u{1b}'), "{name}: {shown}");
        let widest = shown.lines().map(|line| line.trim_end().chars().count()).max();
        assert!(widest.is_some_and(|widest| (40..=80).contains(&widest)), "{widest:?}: {shown}");
    }
}

/// A terminal that does not know its width reports 0 columns.
#[tokio::test]
async fn a_terminal_without_a_width_breaks_no_line() {
    let place = Place::new().await;
    let (gate, _planned) = place.gate("bob@example.com").await;
    let mut command = place.command(&["approve", &end(gate.id()), "--as", "ann"]);
    let (_, shown) = on_terminal(&mut command, 0, "n\n");
    assert!(shown.contains("Allow email.send? This cannot be undone."), "{shown}");
    let (_, shown) = on_terminal(&mut place.command(&["list", "--color", "never"]), 0, "");
    assert!(shown.contains(&format!("approve {} --as NAME", &end(gate.id())[4..])), "{shown}");
}

/// A truncated question needs `--whole`.
#[tokio::test]
async fn a_question_that_is_cut_is_not_approved() {
    let place = Place::new().await;
    let to = format!("bob@example.com, {} eve@example.com", "x".repeat(20_000));
    let (gate, _planned) = place.gate(&to).await;
    let id = end(gate.id());
    for more in [&[][..], &["--yes"]] {
        let arguments = [&["approve", &id, "--as", "ann"][..], more].concat();
        let (code, shown) = on_terminal(&mut place.command(&arguments), 100, "y\n");
        assert_eq!(code, 1, "{shown}");
        let prefix = place.prefix();
        let command = format!("`{prefix} approve {} --whole --as NAME` shows all of it", gate.id());
        assert!(shown.contains(&command), "{shown}");
        assert_eq!(place.label(gate.id()).await, Label::Waiting);
    }
    for (typed, code, label) in [("n\n", 1, Label::Waiting), ("y\n", 0, Label::Success)] {
        let mut command = place.command(&["approve", &id, "--as", "ann", "--whole"]);
        let (found, shown) = on_terminal(&mut command, 100, typed);
        assert_eq!(found, code, "{shown}");
        let flat: String = shown.split_whitespace().collect();
        assert!(flat.contains("eve@example.com") && !flat.contains("NOTSHOWN"), "{shown}");
        assert_eq!(place.label(gate.id()).await, label);
    }
}
