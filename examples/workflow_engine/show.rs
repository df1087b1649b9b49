use std::{
    fmt,
    io::{self, Write},
};

/// Prints a line. Ignores a closed pipe: what is committed stays committed.
pub fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}
