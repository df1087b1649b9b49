use std::{
    fmt,
    io::{self, IsTerminal, Write},
};

use anstyle::Style;
use clap::ColorChoice;
use unicode_width::UnicodeWidthChar;

use super::Error;
use machine::text::OneLine;

/// Where a person, or a program, reads and answers.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_field_names, reason = "output may go elsewhere")]
pub(super) struct Terminal {
    pub(super) is_colored: bool,
    /// Output goes to a terminal, so it should fit its width.
    pub(super) is_terminal: bool,
}

impl Terminal {
    pub(super) fn new(color: ColorChoice) -> Self {
        let stdout = io::stdout();
        let is_colored = match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never
            }
        };
        Self { is_colored, is_terminal: stdout.is_terminal() }
    }

    pub(super) fn paint(self, style: Style, text: impl fmt::Display) -> String {
        if self.is_colored { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    pub(super) fn title(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }
}

/// `name   value`, with the names in a column.
pub(super) fn field(name: &str, value: impl fmt::Display) -> String {
    format!("{name:12} {value}\n")
}

/// The text with these characters escaped.
pub(super) fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_escaped(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

pub(super) fn print(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()?;
    Ok(())
}

/// A question of the library: its lines stay, and nothing in one looks like a label. A line that is
/// wider than the terminal continues below, indented, so that no text can look like another line.
pub(super) fn question(text: &str) -> String {
    wrapped(text, width().map_or(usize::MAX, usize::from))
}

/// The columns of the terminal, if it knows: some report 0.
pub(super) fn width() -> Option<u16> {
    comfy_table::Table::new().width().filter(|width| *width > 0)
}

fn wrapped(text: &str, width: usize) -> String {
    const INDENT: &str = "        ";
    // On a terminal that is narrower than this, nothing can be read anyway.
    let width = width.max(2 * INDENT.len());
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        let mut at = 0;
        for character in OneLine(line).to_string().chars() {
            let wide = character.width().unwrap_or(0);
            if at + wide > width {
                shown.push('\n');
                shown.push_str(INDENT);
                at = INDENT.len();
            }
            shown.push(character);
            at += wide;
        }
        shown.push('\n');
    }
    shown.truncate(shown.trim_end_matches('\n').len());
    shown
}

pub(super) fn tell(what: &str) -> Result<(), Error> {
    Ok(writeln!(io::stderr(), "{what}")?)
}

/// Shows a person the pending decision, and asks for confirmation. Nothing goes to the standard
/// output.
pub(super) fn agrees(what: &str) -> Result<(), Error> {
    let mut stderr = io::stderr().lock();
    if !io::stdin().is_terminal() {
        return Err(Error::usage(format!(
            "cannot ask for confirmation, because the input is not a terminal; review it with \
             `show`, and pass `--yes` to decide. Nothing was changed. The pending decision:\n{what}"
        )));
    }
    write!(stderr, "{what}\n[y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Error::refused("nothing was changed"))
}

#[cfg(test)]
mod tests;
