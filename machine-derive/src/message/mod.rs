//! Every message of the macro: its code, what is wrong, one repair.

use std::fmt;

use syn::Ident;

/// Declares a function for each message. Its texts can use the parameters, and names bound by `let`.
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
fn did_you_mean(wrong: &Ident, candidates: &[&Ident], otherwise: impl Into<String>) -> String {
    nearest(wrong, candidates)
        .map_or_else(|| otherwise.into(), |near| format!("did you mean `{near}`?"))
}

/// The most similar candidate, if it is similar enough.
pub(crate) fn nearest<'a>(wrong: &Ident, candidates: &[&'a Ident]) -> Option<&'a Ident> {
    let wrong = wrong.to_string();
    candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(&wrong, &candidate.to_string()), *candidate))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}
