use std::{cmp::Reverse, fmt};

use super::{ConsequenceView, Language, language::Sentence};

/// What happened, as the section of a model's prompt: one line for each execution, contradicted
/// and doubtful ones first, and a note if any of them is irreversible.
///
/// What tools returned is escaped: it makes no line of its own, so it can forge neither a line with a
/// label nor the end of the section. The text has a greatest length. Contradicted and
/// doubtful executions are the last to be left out, before them those that have taken effect, and before
/// them the others, of each the oldest first; what is left out is counted.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{AnyExecution, Contract, Execution, ToolSpec};
/// use machine::view::{ConsequenceView, Language, Prompt};
///
/// let actors = Actors::issue("planner")?;
/// let tool = ToolSpec::idempotent("calendar", "create")?;
/// let contract = Contract::tool_call(&tool, "{}", &actors.reasoning_node)?.about("meeting");
/// let created = Execution::new(contract)
///     .start(&actors.tool_node)
///     .succeed("event 17".to_owned(), &actors.tool_node);
///
/// let views = [ConsequenceView::in_language(&created.into(), Language::Chinese)];
/// let prompt = Prompt::new(&views).language(Language::Chinese);
/// assert_eq!(prompt.to_string(), "[SUCCESS] calendar.create → meeting: event 17");
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    views: &'a [ConsequenceView],
    language: Language,
    limit: usize,
    unreadable: usize,
}

impl<'a> Prompt<'a> {
    /// The default of [`limit`](Self::limit), in bytes.
    pub const DEFAULT_LIMIT: usize = 16 * 1024;

    /// The section about these executions, in English.
    #[must_use]
    pub fn new(views: &'a [ConsequenceView]) -> Self {
        Self { views, language: Language::English, limit: Self::DEFAULT_LIMIT, unreadable: 0 }
    }

    /// With the note in this language.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// With a line, before all others, that says how many executions cannot be read: whether they have
    /// taken effect is unknown.
    #[must_use]
    pub fn unreadable(mut self, count: usize) -> Self {
        self.unreadable = count;
        self
    }

    /// The lines take at most this many bytes together; notes come in addition. At least one is shown.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

impl Prompt<'_> {
    /// The lines that fit, in the order in which they are shown.
    fn lines(&self) -> Vec<String> {
        let mut by_weight: Vec<_> = self.views.iter().enumerate().collect();
        by_weight.sort_by_key(|(age, view)| {
            (!needs_attention(view), !view.has_side_effects, Reverse(*age))
        });
        // The first line has no line break before it.
        let mut left = self.limit.saturating_add(1);
        let mut shown = Vec::new();
        for (place, view) in by_weight {
            let line = view.to_string();
            let needed = line.len() + 1;
            if needed <= left || shown.is_empty() {
                left = left.saturating_sub(needed);
                shown.push((!needs_attention(view), place, line));
            }
        }
        shown.sort();
        shown.into_iter().map(|(.., line)| line).collect()
    }
}

impl fmt::Display for Prompt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.lines();
        let omitted = self.views.len() - lines.len();
        if self.unreadable > 0 {
            lines.insert(0, self.language.say(&Sentence::Unreadable(self.unreadable)));
        }
        if omitted > 0 {
            lines.push(self.language.say(&Sentence::Omitted(omitted)));
        }
        // Also if the line itself did not fit.
        if self.views.iter().any(|view| view.has_side_effects) {
            lines.push(self.language.say(&Sentence::IrreversibleNote));
        }
        f.write_str(&lines.join("\n"))
    }
}

pub(super) fn needs_attention(view: &ConsequenceView) -> bool {
    use super::Label::{Contradicted, InDoubt, Unconfirmed};
    matches!(view.consequence_label, Contradicted | InDoubt | Unconfirmed)
}
