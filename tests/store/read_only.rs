//! Files without write permission. Root may write everything, so a child process runs as another
//! user.

use std::{
    fs::{self, Permissions},
    io::ErrorKind,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use machine::store::{OpenError, OpenOptions, Query, Store};
use machine_tests::process::{Process, command, orders, say};
use tempfile::TempDir;

use crate::store::child::write_and_be_killed;

const NOBODY: u32 = 65534;

/// The result for the user `nobody` of opening the file for writing or for reading; `None` if this process may not switch
/// to that user.
fn as_nobody(folder: &TempDir, file: &Path, for_writing: bool) -> Option<String> {
    let program = folder.path().join("test-program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let own = command("store::read_only::opens", &(file, for_writing));
    let mut command = Command::new(program);
    command.args(own.get_args()).envs(own.get_envs().filter_map(|(name, it)| Some((name, it?))));
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    command.uid(NOBODY).gid(NOBODY).current_dir("/");
    // Until a child of another test has replaced itself, it has this file open for writing as well.
    let child = loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(1));
            }
            started => break started,
        }
    };
    match child {
        Ok(child) => Some(Process::of(child).hear()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            eprintln!("skipped: needs the right to run a child as nobody ({error})");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A folder that every user may enter, with a store in it; and its file.
async fn store(file_mode: u32, folder_mode: u32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("data");
    fs::create_dir(&inner).unwrap();
    let file = inner.join("agent.db");
    Store::sqlite(&file).await.unwrap().close().await.unwrap();
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 1);
    fs::set_permissions(&file, Permissions::from_mode(file_mode)).unwrap();
    fs::set_permissions(&inner, Permissions::from_mode(folder_mode)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    (folder, file)
}

/// A file, a folder, or both without write permission, and a file without any.
#[tokio::test]
async fn files_that_cannot_be_written_are_refused() {
    for (file_mode, folder_mode, expected) in [
        (0o644, 0o777, &["ReadOnly"][..]),
        (0o666, 0o755, &["ReadOnly", "CannotOpen"]),
        (0o644, 0o755, &["ReadOnly", "CannotOpen"]),
        (0o600, 0o777, &["CannotOpen"]),
    ] {
        let (folder, file) = store(file_mode, folder_mode).await;
        let Some(said) = as_nobody(&folder, &file, true) else { return };
        let kind = said.split(' ').next().unwrap();
        assert!(expected.contains(&kind), "{file_mode:o} in {folder_mode:o}: {said}");
    }
}

/// A file at rest can be read where nothing can be written, and one with a log cannot: SQLite needs its
/// shared memory file.
#[tokio::test]
async fn an_observer_needs_no_write_permission() {
    let (folder, file) = store(0o644, 0o755).await;
    let Some(said) = as_nobody(&folder, &file, false) else { return };
    assert_eq!(said, "Ok 0");
    write_and_be_killed(&file);
    let shared = file.with_file_name("agent.db-shm");
    fs::set_permissions(&shared, Permissions::from_mode(0o600)).unwrap();
    let said = as_nobody(&folder, &file, false).unwrap();
    assert!(said.starts_with("CannotOpen") && said.contains("log cannot be read"), "{said}");
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn opens() {
    let (file, for_writing): (PathBuf, bool) = orders();
    let opened = if for_writing {
        Store::sqlite(file).await
    } else {
        OpenOptions::new().read_only(file).await
    };
    say(&match opened {
        Ok(store) => format!("Ok {}", store.list(&Query::new()).await.unwrap().items.len()),
        Err(OpenError::ReadOnly { .. }) => "ReadOnly".to_owned(),
        Err(error @ OpenError::CannotOpen { .. }) => format!("CannotOpen {error}"),
        Err(other) => format!("{other:?}"),
    });
}
