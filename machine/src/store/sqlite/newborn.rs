//! A file that appears as a whole, with an empty store in it.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, TransactionBehavior};

use super::{
    fail::fail_point,
    failure,
    inspect::with_suffix,
    rename::{rename_new, sync_folder},
    schema,
};
use crate::{
    id::Id,
    journal::DigestKey,
    store::error::{OpenError, Unavailable},
};

/// The maximum number of tries, as other processes may take the new file for the remains of a
/// killed one.
const TRIES: usize = 10;

/// Creates the file if missing, under a temporary name, and renames it when it is on disk. So no
/// process that is killed or frozen leaves a file with half a store in it, and none keeps others
/// from creating it.
///
/// Does nothing where that is impossible: if there is a file, even an empty one, or if the system
/// cannot rename without replacing. Then SQLite creates the store in place, with a journal.
pub(super) fn create(path: &Path, key: &DigestKey) -> Result<(), OpenError> {
    // A link that leads nowhere is a file as well.
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    sweep(path);
    let image = image(path, key)?;
    for _ in 0..TRIES {
        let unnamed = unnamed(path, &Id::fresh().to_string());
        let written = write(&unnamed, &image).and_then(|()| {
            fail_point!("create-written");
            rename_new(&unnamed, path)
        });
        let Err(error) = written else {
            fail_point!("create-renamed");
            return sync_folder(path).map_err(|error| Unavailable::other(error).into());
        };
        let _ = fs::remove_file(&unnamed);
        match error.kind() {
            // Its folder is missing, or another process has swept it.
            ErrorKind::NotFound => {}
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                return Err(Unavailable::Full.into());
            }
            // Another process was faster. Or it cannot be done here, and SQLite says why, or does
            // it.
            _ => return Ok(()),
        }
    }
    Ok(())
}

fn image(path: &Path, key: &DigestKey) -> Result<Vec<u8>, OpenError> {
    let says = |error| failure::opening(&error, path);
    let mut memory = Connection::open_in_memory().map_err(says)?;
    memory.pragma_update(None, "page_size", schema::PAGE_SIZE).map_err(says)?;
    let transaction =
        memory.transaction_with_behavior(TransactionBehavior::Immediate).map_err(says)?;
    schema::prepare(&transaction, path, key)?;
    transaction.commit().map_err(says)?;
    let mut image = memory.serialize("main").map_err(says)?.to_vec();
    // Read version and write version: with a write-ahead log.
    if let Some(versions) = image.get_mut(18..20) {
        versions.fill(2);
    }
    Ok(image)
}

fn write(unnamed: &Path, image: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // As SQLite does.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    let mut file = options.open(unnamed)?;
    fail_point!("create-begun");
    file.write_all(image)?;
    // Closed before it has its name: closing it later would drop the locks of this process.
    file.sync_all()
}

fn unnamed(path: &Path, id: &str) -> PathBuf {
    with_suffix(path, &format!("-new-{id}"))
}

/// Suffix of a leftover during its inspection.
const SWEPT: &str = ".left";

/// Removes what killed processes left. A process that is only slow tries again. Errors are
/// harmless: the files stay.
fn sweep(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let Ok(files) = folder.read_dir() else { return };
    for file in files.flatten().filter(|file| file.file_type().is_ok_and(|it| it.is_file())) {
        let found = file.file_name();
        let Some(id) = id_of(&found, name) else { continue };
        let original = unnamed(path, id);
        // No process will give it the name of the store. Otherwise closing it here could drop the
        // locks of this process on the store.
        let swept = unnamed(path, &format!("{id}{SWEPT}"));
        if file.path() != swept && rename_new(&file.path(), &swept).is_err() {
            continue;
        }
        let _ =
            if is_ours(&swept) { fs::remove_file(&swept) } else { rename_new(&swept, &original) };
    }
}

/// The id in the name of a file that was to become this one.
fn id_of<'a>(found: &'a OsStr, name: &OsStr) -> Option<&'a str> {
    let id = found.to_str()?.strip_prefix(name.to_str()?)?.strip_prefix("-new-")?;
    let id = id.strip_suffix(SWEPT).unwrap_or(id);
    id.parse::<Id>().is_ok().then_some(id)
}

/// Checks whether a file is the beginning of a store.
fn is_ours(file: &Path) -> bool {
    let mut header = Vec::new();
    let read = File::open(file).and_then(|file| file.take(72).read_to_end(&mut header));
    let id = u32::try_from(schema::APPLICATION_ID).unwrap_or(0).to_be_bytes();
    read.is_ok()
        && (header.is_empty()
            || header.starts_with(b"SQLite format 3\0") && header.get(68..72) == Some(&id))
}
