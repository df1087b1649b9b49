//! Every message of the macro: its code, what is wrong, one repair.

use std::{cmp::Reverse, fmt};

use syn::Ident;

/// Declares a function for each message. Its texts can use the parameters, and names bound by
/// `let`.
macro_rules! messages {
    ($(
        $code:ident $name:ident($($arg:ident: $ty:ty),*) $(let $var:pat = $value:expr;)*
            $wrong:literal => $repair:literal
    )*) => {$(
        pub(crate) fn $name($($arg: $ty),*) -> $crate::message::Message {
            $(let $var = $value;)*
            $crate::message::Message {
                code: stringify!($code),
                wrong: format!($wrong),
                repair: format!($repair),
            }
        }
    )*};
}

mod graph;
mod invocation;
mod language;
mod names;
mod tool;

pub(crate) use self::{graph::*, invocation::*, language::*, names::*, tool::*};

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
    /// The message and the note of a trait's `on_unimplemented`.
    pub(crate) fn of_a_bound(&self) -> (String, &str) {
        // In there, braces are parameters; those of the types are meant.
        let mut wrong = self.wrong.replace('{', "{{").replace('}', "}}");
        for ty in ["{Self}", "{T}"] {
            wrong = wrong.replace(&format!("{{{ty}}}"), ty);
        }
        (format!("{wrong} [{}]", self.code), &self.repair)
    }
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

/// A question, if one of the candidates is similar; else this repair.
fn did_you_mean<T: fmt::Display>(
    wrong: &impl fmt::Display,
    candidates: impl IntoIterator<Item = T>,
    otherwise: impl Into<String>,
) -> String {
    nearest(wrong, candidates)
        .map_or_else(|| otherwise.into(), |near| format!("did you mean `{near}`?"))
}

/// The error for an option that an attribute does not have.
pub(crate) fn unknown_key(key: &Ident, known: &[&str]) -> syn::Error {
    let near = nearest(key, known).map(|near| format!("; did you mean `{near}`?"));
    syn::Error::new(key.span(), format!("unknown option `{key}`{}", near.unwrap_or_default()))
}

/// The candidate with the fewest typing errors, if there are few enough for its length. Of several,
/// the first of those with the longest common beginning.
pub(crate) fn nearest<T: fmt::Display>(
    wrong: &impl fmt::Display,
    candidates: impl IntoIterator<Item = T>,
) -> Option<T> {
    let wrong = wrong.to_string();
    let written = folded(&wrong);
    let near = candidates.into_iter().filter_map(|candidate| {
        let name = candidate.to_string();
        let known = folded(&name);
        let errors = strsim::damerau_levenshtein(&written, &known);
        let common = written.chars().zip(known.chars()).take_while(|(a, b)| a == b).count();
        let allowed = match written.len().max(known.len()) {
            ..5 => 1,
            5 if common < 2 => 1,
            length => (length / 3).max(2),
        };
        let is_near = errors <= allowed && name != wrong;
        is_near.then_some(((errors, Reverse(common)), candidate))
    });
    near.min_by_key(|(rank, _)| *rank).map(|(_, candidate)| candidate)
}

/// The name without what is often mistyped: underscores, capitals, and letters that look like
/// digits.
fn folded(name: &str) -> String {
    let letters = name.chars().filter(|letter| *letter != '_');
    let folded = letters.flat_map(char::to_lowercase).map(|letter| match letter {
        'i' | 'l' => '1',
        'o' => '0',
        other => other,
    });
    folded.collect()
}
