use std::{fs::File, io::Read, path::Path};

use super::Error;
use machine::text::OneLine;

/// Reads a small file that an option names. It may be a pipe, such as a shell makes for a secret
/// that is in no file. One of more than `limit` bytes is refused, also if it never ends. `what`
/// says what it must be.
pub(super) fn read(file: &Path, limit: u64, what: &str) -> Result<Vec<u8>, Error> {
    let shown = OneLine(&file.display().to_string()).to_string();
    let cannot = |error| Error::usage(format!("cannot read {shown}: {error}; it must be {what}"));
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(cannot)?;
    opened.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(cannot)?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read <= limit) {
        return Ok(bytes);
    }
    Err(Error::usage(format!("{shown} is too large; it must be {what}")))
}
