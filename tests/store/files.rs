//! Files that are opened: a new one, and everything that is not a store of this program.

use std::{fs, path::Path};

use machine::store::{OpenError, OpenOptions, Store};
use machine_tests::{
    assert_err,
    process::{Process, command},
};
use rusqlite::Connection;

use crate::store::support::{Place, block_on, content, names, new_file};

/// The format that this program writes, and the application id of its files.
const FORMAT: i64 = 16;
pub(super) const APPLICATION_ID: i64 = 0x6d61_6368;

/// The file at the path of the store, and the answers to opening it: for writing, for writing if it
/// exists, for reading, and for a check. An answer is the kind of the error and a part of its text;
/// empty if it opens.
struct Case {
    name: &'static str,
    make: fn(&Path),
    says: [&'static str; 4],
}

const MISSING: &str = "CannotOpen: check the path";
const NO_STORE: &str = "CannotOpen: contains no store yet";
const THEIRS: &str = "OtherProgram: ";
const OLD: &str = "TooOld: format";
const LOG: &str = "Leftover: agent.db-wal";
const JOURNAL: &str = "Leftover: agent.db-journal";

const CASES: [Case; 16] = [
    Case { name: "nothing", make: |_| {}, says: ["", MISSING, MISSING, MISSING] },
    Case {
        name: "a folder",
        make: |file| fs::create_dir(file).unwrap(),
        says: ["CannotOpen: not a regular file"; 4],
    },
    Case {
        name: "an empty file",
        make: |file| fs::write(file, "").unwrap(),
        says: ["", NO_STORE, NO_STORE, NO_STORE],
    },
    Case {
        name: "a text",
        make: |file| fs::write(file, "Dear diary, ".repeat(500)).unwrap(),
        says: ["NotADatabase: "; 4],
    },
    Case {
        name: "tables of another program",
        make: |file| {
            edit(file, "CREATE TABLE instance (id TEXT); INSERT INTO instance VALUES ('a')");
        },
        says: [THEIRS; 4],
    },
    Case {
        name: "the mark of another program",
        make: |file| edit(file, "PRAGMA application_id = 77"),
        says: [THEIRS; 4],
    },
    Case {
        name: "the version of another program",
        make: |file| edit(file, "PRAGMA user_version = 3"),
        says: [THEIRS; 4],
    },
    Case {
        name: "a log of another program, closed",
        make: |file| edit(file, "PRAGMA journal_mode = WAL; CREATE TABLE t (a)"),
        says: [THEIRS; 4],
    },
    Case {
        name: "another program crashed, and its last writes are in its log",
        make: |file| {
            let live = tempfile::tempdir().unwrap();
            let theirs = Connection::open(live.path().join("agent.db")).unwrap();
            theirs.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
            for name in ["agent.db", "agent.db-wal"] {
                fs::copy(live.path().join(name), file.with_file_name(name)).unwrap();
            }
        },
        says: [THEIRS; 4],
    },
    Case {
        name: "a newer format",
        make: |file| stored(file, &OpenOptions::new(), "PRAGMA user_version = 999"),
        says: ["TooNew: 999"; 4],
    },
    Case { name: "the first format", make: |file| old_format(file, 1), says: [OLD; 4] },
    Case { name: "the format before", make: |file| old_format(file, FORMAT - 1), says: [OLD; 4] },
    Case {
        name: "a key, opened without it",
        make: |file| stored(file, &OpenOptions::new().key([7; 32]), "SELECT 1"),
        says: ["OtherKey: "; 4],
    },
    Case {
        name: "a second name of the file, which would have a separate log",
        make: |file| {
            stored(file, &OpenOptions::new(), "SELECT 1");
            fs::hard_link(file, file.with_file_name("other.db")).unwrap();
        },
        says: ["HardLinked: 2"; 4],
    },
    // A database that was moved without its log: the log has commits, and SQLite would overwrite
    // it.
    Case {
        name: "only a log",
        make: |file| fs::write(file.with_file_name("agent.db-wal"), "commits").unwrap(),
        says: [LOG, MISSING, MISSING, MISSING],
    },
    Case {
        name: "only a journal",
        make: |file| fs::write(file.with_file_name("agent.db-journal"), "commits").unwrap(),
        says: [JOURNAL, MISSING, MISSING, MISSING],
    },
];

/// Edits a file with SQLite.
fn edit(file: &Path, sql: &str) {
    let raw = Connection::open(file).unwrap();
    raw.execute_batch(sql).unwrap();
    raw.close().unwrap();
}

/// A store, closed and edited.
fn stored(file: &Path, options: &OpenOptions, sql: &str) {
    block_on(async { options.sqlite(file).await.unwrap().close().await.unwrap() });
    edit(file, sql);
}

fn old_format(file: &Path, format: i64) {
    fs::copy("store/fixtures/format-1.db", file).unwrap();
    edit(file, &format!("PRAGMA user_version = {format}"));
}

/// The kind of an error, and the path that it names.
fn kind(error: &OpenError) -> (&'static str, &Path) {
    match error {
        OpenError::CannotOpen { path, .. } => ("CannotOpen", path),
        OpenError::NotADatabase { path } => ("NotADatabase", path),
        OpenError::OtherProgram { path } => ("OtherProgram", path),
        OpenError::TooNew { path, .. } => ("TooNew", path),
        OpenError::TooOld { path, .. } => ("TooOld", path),
        OpenError::OtherKey { path } => ("OtherKey", path),
        OpenError::HardLinked { path, .. } => ("HardLinked", path),
        OpenError::Leftover { path, .. } => ("Leftover", path),
        other => panic!("{other}"),
    }
}

/// Every such file is refused with its reason, and left as it is, byte for byte.
#[test]
fn files_without_a_store_are_refused_and_left_alone() {
    for Case { name, make, says } in CASES {
        for (way, expected) in says.into_iter().enumerate() {
            let (folder, file) = new_file();
            make(&file);
            let before = content(folder.path());
            let options = OpenOptions::new();
            let opened = block_on(async {
                match way {
                    0 => options.sqlite(&file).await.map(drop),
                    1 => options.must_exist().sqlite(&file).await.map(drop),
                    2 => options.read_only(&file).await.map(drop),
                    _ => options.check(&file).await.map(drop),
                }
            });
            let Some((expected, text)) = expected.split_once(": ") else {
                opened.unwrap_or_else(|error| panic!("{name}, {way}: {error}"));
                continue;
            };
            let error = opened.expect_err(name);
            assert_eq!(kind(&error), (expected, &*file), "{name}, {way}");
            assert!(error.to_string().contains(text), "{name}, {way}: {error}");
            assert!(content(folder.path()) == before, "{name}, {way}: it was changed");
        }
    }
}

/// A file is opened with the key that it was created with, or not at all.
#[tokio::test]
async fn another_key_does_not_open_the_file() {
    for created in [OpenOptions::new(), OpenOptions::new().key([7; 32])] {
        let place = Place::with(created).await;
        place.store.close().await.unwrap();
        let others = OpenOptions::new().key([8; 32]);
        assert_err!(others.sqlite(place.file()).await, OpenError::OtherKey { path } if *path == place.file());
        assert_err!(others.check(place.file()).await, OpenError::OtherKey { .. });
        place.open_again().await;
    }
}

/// Names that have no folder, or denote no file.
#[tokio::test]
async fn names_that_are_no_path_of_a_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing").join("agent.db");
    for (path, says) in
        [(Path::new(":memory:"), "Store::memory"), (Path::new(""), ""), (&missing, "folder exists")]
    {
        let refused = Store::sqlite(path).await;
        assert_err!(refused, OpenError::CannotOpen { path: of, .. } if *of == path);
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(says), "{text}");
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

/// The second name is gone: the file is a store like any other.
#[tokio::test]
async fn a_file_is_opened_when_its_second_name_is_gone() {
    let place = Place::new().await;
    place.store.close().await.unwrap();
    let other = place.folder().join("other.db");
    fs::hard_link(place.file(), &other).unwrap();
    assert_err!(Store::sqlite(&other).await, OpenError::HardLinked { links: 2, .. });
    fs::remove_file(&other).unwrap();
    place.open_again().await;
}

/// The application id, the number of the format, and a log that the next process finds.
#[tokio::test]
async fn a_new_file_is_marked_and_has_a_log() {
    let place = Place::new().await;
    let number = |sql| place.raw().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("PRAGMA application_id"), APPLICATION_ID);
    assert_eq!(number("PRAGMA user_version"), FORMAT);
    let mode: String = place.raw().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

/// A file name that looks like a URI is used as a file name. Runs in a separate process, because it
/// needs its own working directory.
#[test]
fn a_name_is_not_a_uri() {
    let folder = tempfile::tempdir().unwrap();
    let name = "file:agent.db?mode=rwc";
    let mut child = command("store::child::opens_and_closes", &name);
    Process::of(child.current_dir(folder.path()).spawn().unwrap()).join();
    assert_eq!(names(folder.path()), [name]);
}
