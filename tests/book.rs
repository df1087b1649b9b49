//! The effects of a service in the outside world: lines of a file. A line stays if the process that
//! has added it is killed.

use std::{
    fs,
    io::{Result, Write},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

/// Adds a line, in one write, so that those of several processes do not mix.
pub fn add(file: &Path, line: &impl Serialize) -> Result<()> {
    let mut file = fs::File::options().create(true).append(true).open(file)?;
    file.write_all(format!("{}\n", serde_json::to_string(line)?).as_bytes())
}

/// All lines, in order.
#[must_use]
pub fn lines<T: DeserializeOwned>(file: &Path) -> Vec<T> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
