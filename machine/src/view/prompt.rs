use std::fmt::{self, Write};

use super::{ConsequenceView, Language, language::Sentence};

/// What happened, as the section of a model's prompt (OB-8): one line for each execution, contradicted
/// and doubtful ones first, and a note if any of them is irreversible.
///
/// What tools returned is escaped: it makes no line of its own, so it can forge neither a line with a
/// label nor the end of the section. The text has a greatest length; what does not fit is counted.
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
}

impl<'a> Prompt<'a> {
    /// The default of [`limit`](Self::limit), in bytes.
    pub const DEFAULT_LIMIT: usize = 16 * 1024;

    /// The section about these executions, in English.
    #[must_use]
    pub fn new(views: &'a [ConsequenceView]) -> Self {
        Self { views, language: Language::English, limit: Self::DEFAULT_LIMIT }
    }

    /// With the note in this language.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// The lines take at most this many bytes together; notes come in addition. The first line is
    /// always shown.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

impl fmt::Display for Prompt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut views: Vec<_> = self.views.iter().collect();
        views.sort_by_key(|view| !needs_attention(view));
        let mut text = String::new();
        let mut shown = 0;
        for view in &views {
            let line = view.to_string();
            if shown > 0 {
                if text.len() + line.len() >= self.limit {
                    break;
                }
                text.push('\n');
            }
            text.push_str(&line);
            shown += 1;
        }
        if shown < views.len() {
            let omitted = Sentence::Omitted(views.len() - shown);
            write!(text, "\n{}", self.language.say(&omitted))?;
        }
        // Also if the line itself did not fit.
        if views.iter().any(|view| view.has_side_effects) {
            write!(text, "\n{}", self.language.say(&Sentence::IrreversibleNote))?;
        }
        f.write_str(&text)
    }
}

pub(super) fn needs_attention(view: &ConsequenceView) -> bool {
    use super::Label::{Contradicted, InDoubt};
    matches!(view.consequence_label, Contradicted | InDoubt)
}
