//! A copy of the file at one moment, while others write to it.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use async_channel::Sender;
use rusqlite::{
    Connection, ErrorCode,
    backup::{Backup as Copying, StepResult},
};

use super::{
    fail::{fail_point, fail_point_with_error},
    failure::{reopening, unavailable},
    identity, journal, observed,
    partial::Partial,
    readers::Source,
    schema,
};
use crate::store::{
    error::Unavailable,
    read::subscribe::Position,
    upkeep::backup::{Backup, BackupError, BackupProgress},
};

/// The number of pages copied between two progress reports: 1 MiB.
const STEP: i32 = 256;

/// Copies the file. Blocks. Ends early if the receiver of the steps is dropped.
pub(super) fn run(
    source: &Source,
    to: &Path,
    steps: &Sender<BackupProgress>,
) -> Result<Backup, BackupError> {
    let partial = Partial::create(to)?;
    fail_point!("backup-created");
    let copied = loop {
        let (connection, stamp) = source.open().map_err(reopening)?;
        let copied = copy(&connection, source, &partial, steps);
        // A copy made while a write began may be half of the old and half of the new.
        if observed::is_current(&source.path, stamp.as_ref()) {
            break copied?;
        }
        partial.empty()?;
    };
    fail_point!("backup-copied");
    partial.finish()?;
    fail_point!("backup-finished");
    Ok(copied)
}

fn copy(
    source: &Connection,
    of: &Source,
    partial: &Partial,
    steps: &Sender<BackupProgress>,
) -> Result<Backup, BackupError> {
    let unread = |error: rusqlite::Error| BackupError::from(unavailable(&error));
    // In a read transaction, all pages are of one moment, and the copy never starts again.
    source.execute_batch("BEGIN").map_err(unread)?;
    let sequence = journal::newest(source).map_err(unread)?;
    let page_size = schema::number(source, "page_size").map_err(unread)?;
    let page_size = u64::try_from(page_size).unwrap_or(0);
    let unwritten = |error| partial.unwritten(&error);
    let mut target = partial.connect().map_err(unwritten)?;
    let copying = Copying::new(source, &mut target).map_err(unwritten)?;
    let mut waits_since = None;
    let total = loop {
        let stepped = step(&copying).map_err(unwritten)?;
        if matches!(stepped, StepResult::Busy | StepResult::Locked) {
            let since = *waits_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= Duration::from_millis(of.settings.busy_ms) {
                return Err(Unavailable::Busy.into());
            }
            thread::sleep(Duration::from_millis(5));
            continue;
        }
        waits_since = None;
        let pages = copying.progress();
        let count = |pages: i32| u64::try_from(pages).unwrap_or(0) * page_size;
        let total_bytes = count(pages.pagecount);
        let bytes = total_bytes.saturating_sub(count(pages.remaining));
        if steps.force_send(BackupProgress { bytes, total_bytes }).is_err() {
            // The caller's future was dropped.
            return Err(Unavailable::Stopped.into());
        }
        if stepped == StepResult::Done {
            break total_bytes;
        }
    };
    drop(copying);
    identity::write(&target, of.identity, true, &of.settings.key).map_err(unwritten)?;
    target.close().map_err(|(_, error)| unwritten(error))?;
    let position = Position { generation: of.identity.generation, sequence };
    Ok(Backup { path: partial.target().to_owned(), bytes: total, position })
}

fn step(copying: &Copying<'_, '_>) -> rusqlite::Result<StepResult> {
    fail_point_with_error!("backup-step");
    copying.step(STEP)
}

impl Partial {
    fn unwritten(&self, error: &rusqlite::Error) -> BackupError {
        let path = self.target().to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => BackupError::Full { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Unavailable::other(error).into()
            }
            _ => {
                let reason = format!("{error}; check the disk and the permissions of its folder");
                BackupError::CannotWrite { path, reason }
            }
        }
    }
}
