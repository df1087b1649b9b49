//! Files without write permission. Root may write everything, so a child process runs as another
//! user.

use std::{
    fs::{self, Permissions},
    io::ErrorKind,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    thread,
    time::Duration,
};

use machine::store::{OpenError, OpenOptions, Query, Store};
use tempfile::TempDir;

use crate::store::child::{self, Other};

const NOBODY: u32 = 65534;

/// The error when user `nobody` opens `file`; `None` if this process may not switch to that user.
fn as_nobody(folder: &TempDir, file: &Path) -> Option<String> {
    runs_as_nobody(folder, file, "store::read_only::opens")
}

/// The output of a test that user `nobody` runs.
fn runs_as_nobody(folder: &TempDir, file: &Path, test: &str) -> Option<String> {
    let program = folder.path().join("test-program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let mut command = child::command(&program, test, file);
    command.uid(NOBODY).gid(NOBODY).current_dir("/");
    // Until a child of another test has replaced itself, it has this file open for writing as well.
    let child = loop {
        match command.output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(1));
            }
            ended => break ended,
        }
    };
    match child {
        Ok(output) => {
            let text = String::from_utf8(output.stdout).unwrap();
            let (_, said) = text.split_once("said ").unwrap_or_else(|| panic!("{text}"));
            Some(said.lines().next().unwrap().to_owned())
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            child::say(&format!("skipped: needs the right to run a child as nobody ({error})"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A folder that every user may enter, with a store in it; and its file.
async fn store(file_mode: u32, folder_mode: u32) -> (TempDir, std::path::PathBuf) {
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

/// A read-only file.
#[tokio::test]
async fn a_read_only_file_is_refused() {
    let (folder, file) = store(0o644, 0o777).await;
    let Some(said) = as_nobody(&folder, &file) else { return };
    assert_eq!(said, "ReadOnly");
}

/// A file in a read-only folder.
#[tokio::test]
async fn a_read_only_folder_is_refused() {
    let (folder, file) = store(0o666, 0o755).await;
    let Some(said) = as_nobody(&folder, &file) else { return };
    assert!(said == "ReadOnly" || said.starts_with("CannotOpen"), "{said}");
}

/// Both.
#[tokio::test]
async fn a_read_only_file_and_folder_are_refused() {
    let (folder, file) = store(0o644, 0o755).await;
    let Some(said) = as_nobody(&folder, &file) else { return };
    assert!(said == "ReadOnly" || said.starts_with("CannotOpen"), "{said}");
}

/// An unreadable file.
#[tokio::test]
async fn an_unreadable_file_is_refused() {
    let (folder, file) = store(0o600, 0o777).await;
    let Some(said) = as_nobody(&folder, &file) else { return };
    assert!(said.starts_with("CannotOpen"), "{said}");
}

/// A file at rest can be read where nothing can be written, and one with a log cannot: SQLite needs its
/// shared memory file.
#[tokio::test]
async fn an_observer_needs_no_write_permission() {
    let (folder, file) = store(0o644, 0o755).await;
    let Some(said) = runs_as_nobody(&folder, &file, "store::read_only::observes") else { return };
    assert_eq!(said, "Ok 0");
    let mut other = Other::start("store::observer::writes_and_waits", &file, &[]);
    other.wait_for("written");
    other.kill();
    let shared = file.with_file_name("agent.db-shm");
    fs::set_permissions(&shared, Permissions::from_mode(0o600)).unwrap();
    let said = runs_as_nobody(&folder, &file, "store::read_only::observes").unwrap();
    assert!(said.starts_with("CannotOpen") && said.contains("log cannot be read"), "{said}");
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn observes() {
    let (file, _) = child::given();
    child::say(&match OpenOptions::new().read_only(file).await {
        Ok(store) => format!("said Ok {}", store.list(&Query::new()).await.unwrap().items.len()),
        Err(error @ OpenError::CannotOpen { .. }) => format!("said CannotOpen {error}"),
        Err(other) => format!("said {other:?}"),
    });
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn opens() {
    let (file, _) = child::given();
    child::say(&match Store::sqlite(file).await {
        Ok(_) => "said Ok".to_owned(),
        Err(OpenError::ReadOnly { .. }) => "said ReadOnly".to_owned(),
        Err(error @ OpenError::CannotOpen { .. }) => format!("said CannotOpen {error}"),
        Err(other) => format!("said {other:?}"),
    });
}
