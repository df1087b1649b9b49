use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

use super::{Error, Exit, terminal};
use machine::text::OneLine;

/// The answer of a command: the same for programs and for people.
#[derive(Debug)]
pub(super) struct Output {
    document: Value,
    text: String,
    exit: Exit,
    /// The command has changed something.
    is_act: bool,
}

impl Output {
    pub(super) fn new(document: Value, text: String) -> Self {
        Self { document, text, exit: Exit::Done, is_act: false }
    }

    /// The report of a change. It stays in force even if the report cannot be written.
    pub(super) fn of_act(document: Value, text: String) -> Self {
        Self { is_act: true, ..Self::new(document, text) }
    }

    /// With the problems that it found in the file.
    pub(super) fn problems(mut self, are_some: bool) -> Self {
        if are_some {
            self.exit = Exit::Problems;
        }
        self
    }

    pub(super) fn print(self, format: Format) -> Result<Exit, Error> {
        let text = if format.json {
            crate::json::line(&self.document).map_err(Error::from)
        } else {
            Ok(self.text)
        };
        match text.and_then(|text| terminal::print(&text)) {
            Ok(()) => Ok(self.exit),
            Err(error) if self.is_act => Err(error.after_act()),
            Err(error) => Err(error),
        }
    }
}

/// The format of an answer.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Format {
    /// Print JSON for programs: one document on one line. Times are in milliseconds since the Unix
    /// epoch.
    #[arg(long)]
    pub(super) json: bool,
}

/// A line for each error of what cannot be read.
pub(super) fn unreadable(errors: &[String]) -> String {
    let mut shown = String::new();
    shown.extend(errors.iter().map(|error| format!("unreadable: {}\n", OneLine(error))));
    shown
}

/// The line below a page that is not the last one.
pub(super) fn more(options: impl Display) -> String {
    format!("There are more; for the next page, pass {options}\n")
}

/// A view as data. What its audience may not see is not in it.
pub(super) fn document(view: &impl Serialize) -> Result<Value, Error> {
    Ok(serde_json::to_value(view)?)
}
