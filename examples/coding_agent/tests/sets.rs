//! Sets that the system or a person disturbs, and what is read for them.

use std::{
    fs::{self, File, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    process::Command,
};

use serde_json::json;

use crate::{
    desk::{Desk, FILES, delete, disk_is_full, patch, place, rename, write},
    edits::requests,
    terminal::{RIGHT, TASK, repository, script, written},
    workspace::{
        edits::Step,
        place::Place,
        refusal::{self, Code, Refusal},
        set::{Digest, Ending},
        tools::{Read, Request, Search},
    },
};

/// The texts of all files.
fn texts(desk: &Desk) -> Vec<(String, Option<String>)> {
    desk.files().into_iter().map(|name| (name.clone(), desk.file(&name))).collect()
}

fn b_fails(_: usize, step: Step, path: &Place) -> Result<(), Refusal> {
    let is_it = step == Step::Compared && *path == place("b");
    if is_it { Err(disk_is_full()) } else { Ok(()) }
}

/// A path that can never be written, such as one of another user in a sticky folder: what was
/// written is taken back, and the folder opens as before.
#[test]
fn a_path_that_always_fails_takes_the_set_back() {
    let table = [
        patch("b", "@@\n-two\n+TWO\n"),
        delete("b", "two\n"),
        rename("b", "new/b"),
        write("b", "another\n", Some("two\n")),
    ];
    for request in table {
        let told = format!("{request:?}");
        let desk = Desk::new(&FILES);
        let before = texts(&desk);
        let workspace = desk.stepped(b_fails);
        let first = patch("a", "@@\n-one\n+ONE\n");
        let set = workspace.plan(&[first.clone(), request]).unwrap();
        assert_eq!(workspace.apply(&set, None).unwrap_err(), disk_is_full(), "{told}");
        assert_eq!(texts(&desk), before, "{told}");
        assert!(!desk.path("new").exists(), "{told}");
        drop(workspace);

        let workspace = desk.stepped(b_fails);
        assert_eq!(workspace.undo().unwrap_err().why, refusal::NOTHING_TO_UNDO.1, "{told}");
        let set = workspace.plan(&[first]).unwrap();
        assert_eq!(workspace.apply(&set, None).unwrap().ending, Ending::Applied, "{told}");
        assert!(workspace.store.displaced().unwrap().is_empty(), "{told}");
    }
}

/// What a person does between the plan and its edits: nothing of the set is made.
#[test]
fn a_set_is_of_what_was_read() {
    type Spoil = fn(&Desk);
    let table: [(&str, Spoil); 8] = [
        ("another text", |desk| fs::write(desk.path("b"), "mine\n").unwrap()),
        ("it is gone", |desk| fs::remove_file(desk.path("b")).unwrap()),
        ("other permissions", |desk| {
            fs::set_permissions(desk.path("a"), Permissions::from_mode(0o711)).unwrap();
        }),
        ("a link to the same text", |desk| {
            fs::rename(desk.path("a"), desk.path("other")).unwrap();
            symlink("other", desk.path("a")).unwrap();
        }),
        ("a file at a new path", |desk| fs::write(desk.path("sub/e"), "mine\n").unwrap()),
        ("a folder at a new path", |desk| fs::create_dir(desk.path("sub/e")).unwrap()),
        ("a dangling link at a new path", |desk| symlink("none", desk.path("sub/e")).unwrap()),
        ("the folder of a new path is a link", |desk| {
            fs::rename(desk.path("sub"), desk.path("moved")).unwrap();
            symlink("moved", desk.path("sub")).unwrap();
        }),
    ];
    for (what, spoil) in table {
        let desk = Desk::new(&FILES);
        let workspace = desk.open();
        let set = workspace.plan(&requests()).unwrap();
        spoil(&desk);
        let before = texts(&desk);
        assert_eq!(workspace.apply(&set, None).unwrap_err().code, Code::E_CONFLICT, "{what}");
        assert_eq!(texts(&desk), before, "{what}");
        assert!(!desk.path("new").exists(), "{what}");
        assert_eq!(workspace.store.numbers().unwrap(), [0; 0], "{what}");
    }
}

/// A person writes to a file that has just been made: no report says that the set is as planned,
/// and no undo takes the text of the person.
#[test]
fn what_was_made_is_read_back() {
    let desk = Desk::new(&FILES);
    let a = desk.path("a");
    let workspace = desk.stepped(move |_, step, path| {
        if step == Step::Kept && *path == place("a") {
            fs::write(&a, "a person's\n").unwrap();
        }
        Ok(())
    });
    let set = workspace.plan(&[patch("a", "@@\n-one\n+ONE\n")]).unwrap();
    let report = workspace.apply(&set, None).unwrap();
    assert_eq!((report.ending, report.conflicts.len()), (Ending::InDoubt, 1));
    assert_eq!(report.conflicts[0].path, place("a"));
    assert_eq!(workspace.undo().unwrap_err().why, refusal::NOTHING_TO_UNDO.1);
    assert_eq!(desk.file("a").unwrap(), "a person's\n");
}

/// Also if it is in the repository of another folder.
#[test]
fn git_does_not_see_the_store() {
    let desk = repository(&[("sub/a", "old\n")]);
    let mut script = script("a", &[], RIGHT, RIGHT);
    script["plan"]["verification"] = json!({});
    let mut program = Command::new(env!("CARGO_BIN_EXE_coding_agent"));
    program.args(["do", TASK, "--yes", "--script"]).arg(written(&desk, &script));
    let output = program.arg("--folder").arg(desk.path("sub")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(desk.path("sub.edits/jobs.db").exists());
    let mut git = Command::new("git");
    let output = git.args(["status", "--porcelain"]).current_dir(desk.folder()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), " M sub/a\n");
}

/// Nothing is undone around it; a person can do something about it.
#[test]
fn a_damaged_record_is_named() {
    let desk = Desk::new(&FILES);
    let workspace = desk.open();
    let set = workspace.plan(&[patch("a", "@@\n-one\n+ONE\n")]).unwrap();
    workspace.apply(&set, None).unwrap();
    drop(workspace);
    fs::write(desk.store().join("sets/1"), "{").unwrap();
    let refusal = desk.watched(Box::new(|_, _| Ok(()))).err().unwrap();
    assert!(refusal.at.ends_with("store/sets/1"), "{refusal}");
    assert!(refusal.why.contains("move the store away"), "{refusal}");
    assert_eq!(desk.file("a").unwrap(), "ONE\n");
}

/// Files that are not in a set are the same files, with the same times.
#[test]
fn an_undo_touches_no_other_file() {
    let desk = Desk::new(&FILES);
    fs::write(desk.path(".git/index"), "index\n").unwrap();
    fs::write(desk.path("untracked"), "mine\n").unwrap();
    let others = || {
        let others = ["b", "c", "sub/d", "untracked", ".git/index"];
        others.map(|name| {
            let about = fs::metadata(desk.path(name)).unwrap();
            (name, about.ino(), about.mtime(), about.mtime_nsec(), about.ctime_nsec())
        })
    };
    let before = others();
    let workspace = desk.open();
    let set = workspace.plan(&[patch("a", "@@\n-one\n+ONE\n")]).unwrap();
    workspace.apply(&set, None).unwrap();
    assert_eq!(workspace.undo().unwrap().ending, Ending::Applied);
    assert_eq!((others(), desk.file("a").as_deref()), (before, Some("one\n")));
}

/// What is read is the text of the file, with its ends of lines, and can be written back.
#[test]
fn what_is_read_has_no_marks() {
    let text = "\u{feff}one\r\n\ttwo\nthree";
    let desk = Desk::new(&[("a", text), ("empty", "")]);
    let workspace = desk.open();
    for (path, from, lines, expected) in [
        ("a", None, None, text),
        ("a", Some(0), Some(1), "\u{feff}one\r\n"),
        ("a", Some(2), Some(1), "\ttwo\n"),
        ("a", Some(2), Some(usize::MAX), "\ttwo\nthree"),
        ("a", Some(4), None, ""),
        ("a", Some(usize::MAX), None, ""),
        ("a", None, Some(0), ""),
        ("empty", None, None, ""),
    ] {
        let read = workspace.read(&Read { path: place(path), from, lines }).unwrap();
        let (digest, of) = if path == "a" { (text, 3) } else { ("", 0) };
        let (digest, from) = (Digest::of(digest.as_bytes()), from.unwrap_or(1).max(1));
        let expected = format!("from line {from} of {of}, digest {digest}:\n{expected}");
        assert_eq!(read, expected, "{path} {from:?} {lines:?}");
    }
    let refusal = workspace.plan(&[write("a", text, Some(text))]).unwrap_err();
    assert_eq!(refusal.why, refusal::NO_EFFECT.1);
}

/// What is too large to be shown is not edited, and is named.
#[test]
fn a_large_file_stays() {
    let desk = Desk::new(&FILES);
    File::create(desk.path("large")).unwrap().set_len(5 << 20).unwrap();
    let workspace = desk.open();
    let is_large = |refusal: Refusal| refusal.why.contains("4 MiB");
    let read = Read { path: place("large"), from: None, lines: Some(1) };
    assert!(is_large(workspace.read(&read).unwrap_err()));
    for request in [
        patch("large", "@@\n+one\n"),
        write("large", "one\n", Some("")),
        delete("large", ""),
        rename("large", "small"),
    ] {
        let both = [patch("a", "@@\n-one\n+ONE\n"), request];
        assert!(is_large(workspace.plan(&both).unwrap_err()), "{both:?}");
    }
    let found = workspace.search(&Search { text: "one".to_owned(), under: None }).unwrap();
    assert!(found.contains("\nnot searched: large: "), "{found}");
    assert_eq!(desk.file("a").unwrap(), "one\n");
}

/// A file that is no text can be replaced as a whole; an undo has each byte of it.
#[test]
fn bytes_that_are_no_text_come_back() {
    let (desk, bytes) = (Desk::new(&[]), b"\xff\xfeo\0n\0e\0\r\n\x80");
    fs::write(desk.path("a"), bytes).unwrap();
    let workspace = desk.open();
    let read = Some(Digest::of(bytes));
    let request = Request::Write { path: place("a"), text: "\u{2192}\n".to_owned(), read };
    let set = workspace.plan(&[request]).unwrap();
    workspace.apply(&set, None).unwrap();
    assert_eq!(desk.file("a").unwrap(), "\u{2192}\n");
    workspace.undo().unwrap();
    assert_eq!(fs::read(desk.path("a")).unwrap(), bytes);
}
