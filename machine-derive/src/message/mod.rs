//! Every text that the macro can say: what is wrong, what is legal, one repair.

mod graph;
mod language;
mod names;

use std::fmt;

use syn::Ident;

pub(crate) use self::{graph::*, language::*, names::*};

/// A mistake in a declaration.
pub(crate) struct Message {
    code: &'static str,
    wrong: String,
    repair: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]\n= help: {}", self.wrong, self.code, self.repair)
    }
}

impl Message {
    /// The same as the text of a trait's `on_unimplemented`: message, note.
    pub(crate) fn of_a_bound(&self) -> (String, &str) {
        // In there, braces are parameters.
        let wrong = self.wrong.replace('{', "{{").replace('}', "}}");
        (format!("{wrong} [{}]", self.code), &self.repair)
    }
}

fn message(code: &'static str, wrong: impl Into<String>, repair: impl Into<String>) -> Message {
    Message { code, wrong: wrong.into(), repair: repair.into() }
}

/// The words in backquotes, in the order given: "`A`, `B` and `C`".
fn list<T: fmt::Display>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// The candidate that was probably meant.
pub(crate) fn nearest<'a>(wrong: &Ident, candidates: &[&'a Ident]) -> Option<&'a Ident> {
    let wrong = wrong.to_string();
    candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(&wrong, &candidate.to_string()), *candidate))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}
