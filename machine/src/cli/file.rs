use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

use super::Error;
use crate::view::line::OneLine;

/// Reads a small file that an option names. A pipe or a device, which may never end, is refused, and so is
/// a file of more than `most` bytes. `what` says what the file must be.
pub(super) fn read(file: &Path, most: u64, what: &str) -> Result<Vec<u8>, Error> {
    let shown = OneLine(&file.display().to_string()).to_string();
    let cannot = |error| Error::usage(format!("cannot read {shown}: {error}; it must be {what}"));
    let known = fs::metadata(file).map_err(cannot)?;
    if !known.is_file() {
        return Err(Error::usage(format!("{shown} is not a regular file; it must be {what}")));
    }
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(cannot)?;
    opened.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(cannot)?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read <= most) {
        return Ok(bytes);
    }
    Err(Error::usage(format!("{shown} is too large; it must be {what}")))
}
