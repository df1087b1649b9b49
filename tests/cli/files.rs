//! Files that cannot be opened or read, and machines that cannot.

use std::fs;
#[cfg(unix)]
use std::process::{Command, Stdio};

use machine::store::OpenOptions;
#[cfg(unix)]
use machine_tests::process::{start_unprivileged, temporary_folder_for_all};

use crate::surfaces::{Place, Ran, bare, end};

#[tokio::test]
async fn a_missing_file_is_not_created() {
    let place = Place::new().await;
    let missing = place.folder().join("agnet.db");
    let path = missing.to_str().unwrap();
    for arguments in [
        &["list"][..],
        &["show", "12345678"],
        &["verify"],
        &["check"],
        &["topology"],
        &["prompt", "--session", "x"],
        &["export", "--all"],
        &["approve", "12345678", "--as", "ann", "--yes"],
        &["cancel", "12345678", "--as", "ann"],
        &["send", "12345678", "x", "--as", "ann"],
        &["prune", "--ended-for", "1d", "--as", "ann", "--yes"],
        &["backup", "copy.db"],
    ] {
        let ran = Ran::of(bare(arguments).current_dir(place.folder()).args(["--db", path]));
        assert_eq!(ran.code, 5, "{arguments:?}: {ran:?}");
        assert!(!missing.exists(), "{arguments:?}");
    }
}

#[tokio::test]
async fn files_of_others_are_refused() {
    let place = Place::new().await;
    let text = place.folder().join("notes.txt");
    fs::write(&text, "no database at all, but long enough to have a header in it").unwrap();
    let foreign = place.folder().join("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute("CREATE TABLE a (b)", []).unwrap();
    for (file, says) in [(&text, "is not a database"), (&foreign, "of another program")] {
        Ran::of(bare(&["list"]).arg("--db").arg(file)).failed(5, says);
        let arguments = ["cancel", "12345678", "--as", "ann"];
        Ran::of(bare(&arguments).arg("--db").arg(file)).failed(5, says);
    }
    Ran::of(bare(&["list"]).arg("--db").arg(place.folder())).failed(5, "");

    let raw = rusqlite::Connection::open(place.file()).unwrap();
    raw.pragma_update(None, "user_version", 1_000_000).unwrap();
    drop(raw);
    place.run(&["list"]).failed(5, "use the newer program");
}

#[tokio::test]
async fn a_key_is_read_from_a_file() {
    let place = Place::with(&OpenOptions::new().key([0xab; 32])).await;
    let id = place.order().await;
    place.run(&["list"]).failed(5, "created with another key");
    let key = place.folder().join("key");
    let key_file = key.to_str().unwrap();
    for content in [&[0xab; 32][..], "ab".repeat(32).as_bytes(), b"AB".repeat(32).as_slice()] {
        fs::write(&key, content).unwrap();
        place.run(&["show", &end(id), "--key-file", key_file]).done();
    }
    fs::write(&key, "ab".repeat(32) + "\n").unwrap();
    place.run(&["show", &end(id), "--key-file", key_file]).done();
    for content in ["", "ab", &"+a".repeat(32), &"zz".repeat(32), &"ä".repeat(32)] {
        fs::write(&key, content).unwrap();
        place.run(&["list", "--key-file", key_file]).failed(2, "is not a key file");
    }
    place.run(&["list", "--key-file", "/nonexistent"]).failed(2, "it must be a key file");
}

#[tokio::test]
async fn a_file_that_is_being_written_is_read() {
    let place = Place::new().await;
    place.order().await;
    let raw = rusqlite::Connection::open(place.file()).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    place.run(&["list"]).done();
    place.run(&["verify"]).done();
}

#[tokio::test]
async fn a_broken_machine_does_not_hide_the_others() {
    let place = Place::new().await;
    let (good, broken) = (place.order().await, place.order().await);
    let (gate, _planned) = place.gate("bob@example.com").await;
    place.edit_machine(broken, "UPDATE instance SET state = '{\"evil\": 1}' WHERE id = ID");
    let listed = place.run(&["list"]);
    let good = end(good);
    for text in ["unreadable", &good[4..], &end(gate.id())[4..]] {
        assert!(listed.done().contains(text), "{text}: {listed:?}");
    }
    let document = place.json(&["list"]);
    assert_eq!(document["unreadable"].as_array().unwrap().len(), 1, "{document}");
    let shown = place.run(&["show", &end(broken)]);
    assert_eq!(shown.code, 1, "{shown:?}");
    place.run(&["show", &good]).done();
    place.run(&["send", &end(broken), "confirm", "--as", "ann"]).failed(1, "");

    let verified = place.run(&["verify"]);
    assert_eq!(verified.code, 3, "{verified:?}");
    assert!(verified.out.contains(&broken.to_string()), "{verified:?}");
    assert_eq!(place.run(&["verify", &end(broken)]).code, 3);
    assert_eq!(place.run(&["verify", &good]).code, 0);
    let checked = place.run(&["check"]);
    assert_eq!(checked.code, 3, "{checked:?}");
    assert!(checked.out.contains("2 checked, 1 cannot be read"), "{checked:?}");
    let exported = place.run(&["export", "--all"]);
    assert_eq!((exported.code, exported.out.lines().count()), (3, 3), "{exported:?}");
    assert!(exported.err.contains(&broken.to_string()), "{exported:?}");
}

/// Runs the program as a user whom permissions bind, on a copy of the file that has this mode: a
/// place may be in a folder that this user cannot enter. `None` where there is no such user, or no
/// folder that is open to all.
#[cfg(unix)]
fn run_restricted(place: &Place, mode: u32, arguments: &[&str]) -> Option<Ran> {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir_in(temporary_folder_for_all()?).unwrap();
    let (file, program) = (folder.path().join("agent.db"), folder.path().join("program"));
    fs::copy(place.file(), &file).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_machine-cli"), &program).unwrap();
    for (path, mode) in [(folder.path(), 0o755), (&*program, 0o755), (&*file, mode)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = Command::new(program);
    command.arg("--db").arg(file).args(arguments).env_remove("MACHINE_DB");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(Ran::from(start_unprivileged(&mut command)?.wait_with_output().unwrap()))
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_read_and_written_as_its_permissions_say() {
    let place = Place::new().await;
    let id = end(place.order().await);
    place.store.close().await.unwrap();
    let run = |mode, arguments: &[&str]| run_restricted(&place, mode, arguments);
    let Some(listed) = run(0o444, &["list"]) else { return };
    listed.done();
    run(0o444, &["cancel", &id, "--as", "ann"]).unwrap().failed(5, "not writable");
    run(0o000, &["list"]).unwrap().failed(5, "this user may read the file");
}

/// A definition that cannot be read is named by every command that needs it, and makes no line of
/// its own. Nothing says that all is well.
#[tokio::test]
async fn a_broken_definition_is_named() {
    let place = Place::new().await;
    place.order().await;
    place.store.close().await.unwrap();
    let forged = r#"replace(body, '"audience":"human"', '"audience":"x\norder: 1 checked, all can be read"')"#;
    place.edit(&format!("UPDATE definition SET body = {forged} WHERE machine = 'order'"));

    let attention = place.json(&["list", "--attention-only"]);
    let concerns = attention["attention"]["concerns"].as_array().unwrap();
    assert!(concerns.iter().any(|concern| concern["reason"] == "unreadable"), "{attention}");
    let checked = place.run(&["check"]);
    assert_eq!(checked.code, 3, "{checked:?}");
    assert!(!checked.out.lines().any(|line| line.ends_with("all can be read")), "{checked:?}");
    let kinds = place.run(&["topology"]);
    assert_eq!(kinds.code, 3, "{kinds:?}");
    assert!(kinds.out.contains("unreadable: "), "{kinds:?}");
    let unknown = place.run(&["topology", "order"]);
    unknown.failed(1, "no definition of `order` can be read");
}

/// A secret may come through a pipe, and what never ends is not read to its end.
#[cfg(unix)]
#[tokio::test]
async fn pipes_are_read_and_what_is_too_large_is_refused() {
    let place = Place::with(&OpenOptions::new().key([0xab; 32])).await;
    place.order().await;
    let pipe = place.folder().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, [0xab; 32]).unwrap()
    });
    place.run(&["list", "--key-file", pipe.to_str().unwrap()]).done();
    writer.join().unwrap();
    let large = place.folder().join("large");
    fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    for (path, says) in [
        ("/dev/zero", "is too large"),
        (large.to_str().unwrap(), "is too large"),
        (place.folder().to_str().unwrap(), "cannot read"),
    ] {
        let key = place.run(&["list", "--key-file", path]);
        key.failed(2, says);
        key.failed(2, "32 bytes, or 64 hexadecimal digits");
        let against = place.run(&["check", "--against", path]);
        against.failed(2, says);
        against.failed(2, "JSON with definitions");
    }
}

/// A reader has to make the shared memory file of a log that a killed process left.
#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_is_said_to_be_full_also_while_reading() {
    let place = Place::new().await;
    place.order().await;
    let folder = place.folder().join("copy");
    fs::create_dir(&folder).unwrap();
    for name in ["agent.db", "agent.db-wal"] {
        fs::copy(place.folder().join(name), folder.join(name)).unwrap();
    }
    assert!(fs::metadata(folder.join("agent.db-wal")).unwrap().len() > 0);
    for command in ["list", "verify", "check"] {
        // No file of this process can get larger than 1 KiB.
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""]);
        shell.arg(env!("CARGO_BIN_EXE_machine-cli")).arg(command);
        shell.arg("--db").arg(folder.join("agent.db"));
        Ran::of(&mut shell).failed(5, "the disk is full");
    }
}
