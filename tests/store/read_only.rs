//! Files without write permission. Root may write everything, so a child process runs as another
//! user, in a folder that this user can reach.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Command, Stdio},
};

use machine::store::{OpenError, OpenOptions, Query, Store};
use machine_tests::process::{
    Process, command, orders, say, start_unprivileged, temporary_folder_for_all,
};
use tempfile::TempDir;

use crate::store::child::write_and_be_killed;

/// A folder that every user may enter, with another one in it, which has a store. It can be deleted
/// whatever was forbidden.
struct Restricted(TempDir);

impl Restricted {
    /// The modes of the file and of its folder hold for the owner too.
    async fn new(file_mode: u32, folder_mode: u32) -> Option<Self> {
        let folder = tempfile::tempdir_in(temporary_folder_for_all()?).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let restricted = Self(folder);
        fs::create_dir(restricted.inner()).unwrap();
        Store::sqlite(restricted.file()).await.unwrap().close().await.unwrap();
        assert_eq!(fs::read_dir(restricted.inner()).unwrap().count(), 1);
        restricted.set_modes(file_mode, folder_mode);
        Some(restricted)
    }

    fn inner(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn file(&self) -> PathBuf {
        self.inner().join("agent.db")
    }

    fn set_modes(&self, file_mode: u32, folder_mode: u32) {
        // First, because without it nothing in the folder can be changed.
        fs::set_permissions(self.inner(), Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(self.file(), Permissions::from_mode(file_mode)).unwrap();
        fs::set_permissions(self.inner(), Permissions::from_mode(folder_mode)).unwrap();
    }

    /// The result of opening the file for writing or for reading, without the rights of root;
    /// `None` if this process may not give them up.
    fn opened_unprivileged(&self, for_writing: bool) -> Option<String> {
        let program = self.0.path().join("test-program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let own = command("store::read_only::opens", &(self.file(), for_writing));
        let mut command = Command::new(program);
        command
            .args(own.get_args())
            .envs(own.get_envs().filter_map(|(name, it)| Some((name, it?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Some(Process::of(start_unprivileged(&mut command)?).hear())
    }
}

impl Drop for Restricted {
    fn drop(&mut self) {
        let _ = fs::set_permissions(self.inner(), Permissions::from_mode(0o755));
    }
}

/// A file, a folder, or both without write permission, and a file without any.
#[tokio::test]
async fn files_that_cannot_be_written_are_refused() {
    for (file_mode, folder_mode, expected) in [
        (0o444, 0o777, &["ReadOnly"][..]),
        (0o666, 0o555, &["ReadOnly", "CannotOpen"]),
        (0o444, 0o555, &["ReadOnly", "CannotOpen"]),
        (0o000, 0o777, &["CannotOpen"]),
    ] {
        let Some(place) = Restricted::new(file_mode, folder_mode).await else { return };
        let Some(said) = place.opened_unprivileged(true) else { return };
        let kind = said.split(' ').next().unwrap();
        assert!(expected.contains(&kind), "{file_mode:o} in {folder_mode:o}: {said}");
    }
}

/// A file at rest can be read where nothing can be written, and one with a log cannot: SQLite needs
/// its shared memory file.
#[tokio::test]
async fn an_observer_needs_no_write_permission() {
    let Some(place) = Restricted::new(0o444, 0o555).await else { return };
    let Some(said) = place.opened_unprivileged(false) else { return };
    assert_eq!(said, "Ok 0");
    place.set_modes(0o644, 0o755);
    write_and_be_killed(&place.file());
    for (name, mode) in [("agent.db-wal", 0o444), ("agent.db-shm", 0o000)] {
        fs::set_permissions(place.inner().join(name), Permissions::from_mode(mode)).unwrap();
    }
    place.set_modes(0o444, 0o555);
    let said = place.opened_unprivileged(false).unwrap();
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
