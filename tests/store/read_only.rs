//! Files without write permission. Root may write everything, so a child process runs as another
//! user, in a folder that this user can reach.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use machine::store::{OpenError, OpenOptions, Query, Store};
use machine_tests::process::{
    Process, command, orders, say, start_unprivileged, temporary_folder_for_all,
};
use tempfile::TempDir;

use crate::store::child::write_and_be_killed;

/// The result of opening the file for writing or for reading, without the rights of root; `None` if this process may not give
/// them up.
fn opened_unprivileged(folder: &TempDir, file: &Path, for_writing: bool) -> Option<String> {
    let program = folder.path().join("test-program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let own = command("store::read_only::opens", &(file, for_writing));
    let mut command = Command::new(program);
    command.args(own.get_args()).envs(own.get_envs().filter_map(|(name, it)| Some((name, it?))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Some(Process::of(start_unprivileged(&mut command)?).hear())
}

/// A folder that every user may enter, with a store in it; and its file.
async fn store(file_mode: u32, folder_mode: u32) -> Option<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir_in(temporary_folder_for_all()?).unwrap();
    let inner = folder.path().join("data");
    fs::create_dir(&inner).unwrap();
    let file = inner.join("agent.db");
    Store::sqlite(&file).await.unwrap().close().await.unwrap();
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 1);
    fs::set_permissions(&file, Permissions::from_mode(file_mode)).unwrap();
    fs::set_permissions(&inner, Permissions::from_mode(folder_mode)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    Some((folder, file))
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
        let Some((folder, file)) = store(file_mode, folder_mode).await else { return };
        let Some(said) = opened_unprivileged(&folder, &file, true) else { return };
        let kind = said.split(' ').next().unwrap();
        assert!(expected.contains(&kind), "{file_mode:o} in {folder_mode:o}: {said}");
    }
}

/// A file at rest can be read where nothing can be written, and one with a log cannot: SQLite needs its
/// shared memory file.
#[tokio::test]
async fn an_observer_needs_no_write_permission() {
    let Some((folder, file)) = store(0o644, 0o755).await else { return };
    let Some(said) = opened_unprivileged(&folder, &file, false) else { return };
    assert_eq!(said, "Ok 0");
    write_and_be_killed(&file);
    let shared = file.with_file_name("agent.db-shm");
    fs::set_permissions(&shared, Permissions::from_mode(0o600)).unwrap();
    let said = opened_unprivileged(&folder, &file, false).unwrap();
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
