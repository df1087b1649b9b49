use std::{cmp::Reverse, fmt};

use super::{ConsequenceView, Language, Phrase, View, consequence::LONGEST};
use crate::{contract::ActionType, line::Within};

/// The section of a model's prompt that reports what happened: the results of tools, the answers of
/// people, and what has not ended, each under a heading, and a closing sentence. There is one line
/// for each execution, contradicted and doubtful ones first, and a note if any of them is
/// irreversible. A gate has no line: the action behind it has one. Without executions the section
/// is empty. The calls that a machine makes by entering a state are executions of its session, or,
/// if it has none, of one that is named by its id, and have lines as any others.
///
/// The output of tools is escaped: it cannot start a new line, so it can forge neither a line with
/// a label nor the end of the section. The text has a maximum length. Contradicted and doubtful
/// executions are the last to be left out, before them those that have taken effect, and before
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
/// let prompt = Prompt { language: Language::Chinese, ..Prompt::new(&views) };
/// assert_eq!(
///     prompt.to_string(),
///     "【工具执行结果】\n\n[SUCCESS] calendar.create → meeting: event 17\n\n\
///      请根据以上执行结果继续处理用户的请求。"
/// );
/// # Ok::<(), machine::contract::InvalidContract>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// The executions.
    pub views: &'a [View<ConsequenceView>],
    /// The language of the headings, the sentence and the notes.
    pub language: Language,
    /// The lines take at most this many bytes together; headings and notes come in addition. At
    /// least one is shown.
    pub limit: usize,
    /// The number of executions that cannot be read, for a line before all others: whether they
    /// have taken effect is unknown.
    pub unreadable: usize,
    /// Calls, such as `email.send {"to":"bob"}`, with the instruction not to repeat them, not even
    /// in other words: their labels do not say what they were called with. They have the limit of
    /// the lines for themselves.
    pub in_doubt: &'a [String],
}

impl<'a> Prompt<'a> {
    /// The section about these executions, in English, with a limit of 16 KiB.
    #[must_use]
    pub fn new(views: &'a [View<ConsequenceView>]) -> Self {
        let (language, limit) = (Language::English, 16 * 1024);
        Self { views, language, limit, unreadable: 0, in_doubt: &[] }
    }
}

/// The blocks of the section, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Block {
    Results,
    Answers,
    Open,
}

impl Block {
    fn of(view: &ConsequenceView) -> Self {
        match view.action_type {
            _ if view.is_still_pending => Self::Open,
            ActionType::EcsRequest => Self::Answers,
            _ => Self::Results,
        }
    }

    fn heading(self) -> Phrase {
        match self {
            Self::Results => Phrase::ResultsHeading,
            Self::Answers => Phrase::AnswersHeading,
            Self::Open => Phrase::OpenHeading,
        }
    }
}

impl Prompt<'_> {
    fn views(&self) -> impl Iterator<Item = &ConsequenceView> {
        self.views.iter().map(|view| &**view).filter(|view| !view.is_gate)
    }

    /// The lines that fit, in the order in which they are shown.
    fn lines(&self) -> Vec<(Block, String)> {
        let mut by_weight: Vec<_> = self.views().enumerate().collect();
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
                shown.push((Block::of(view), !needs_attention(view), place, line));
            }
        }
        shown.sort();
        shown.into_iter().map(|(block, .., line)| (block, line)).collect()
    }

    /// The newest ones that fit, at least one, and how many are left out.
    fn calls_in_doubt(&self) -> Vec<String> {
        let mut left = self.limit;
        let mut shown = Vec::new();
        for call in self.in_doubt.iter().rev() {
            let line = Within(call, LONGEST).to_string();
            if line.len() > left && !shown.is_empty() {
                let omitted = self.in_doubt.len() - shown.len();
                shown.push(self.language.say(Phrase::Omitted, &[("count", &omitted)]));
                break;
            }
            left = left.saturating_sub(line.len() + 1);
            shown.push(line);
        }
        shown
    }
}

impl fmt::Display for Prompt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        let omitted = self.views().count() - lines.len();
        let mut blocks: Vec<String> = Vec::new();
        if self.unreadable > 0 {
            blocks.push(self.language.say(Phrase::Unreadable, &[("count", &self.unreadable)]));
        }
        for lines in lines.chunk_by(|(one, _), (next, _)| one == next) {
            let heading = self.language.text(lines[0].0.heading());
            let lines: Vec<_> = lines.iter().map(|(_, line)| line.as_str()).collect();
            blocks.push(format!("{heading}\n\n{}", lines.join("\n")));
        }
        if omitted > 0 {
            blocks.push(self.language.say(Phrase::Omitted, &[("count", &omitted)]));
        }
        if !self.in_doubt.is_empty() {
            let heading = self.language.text(Phrase::DoubtHeading);
            blocks.push(format!("{heading}\n\n{}", self.calls_in_doubt().join("\n")));
        }
        if !blocks.is_empty() {
            let mut end = self.language.text(Phrase::GoOn).to_owned();
            // Also if the line itself did not fit.
            if self.views().any(|view| view.has_side_effects) {
                end = format!("{end}\n{}", self.language.text(Phrase::IrreversibleNote));
            }
            blocks.push(end);
        }
        f.write_str(&blocks.join("\n\n"))
    }
}

pub(crate) fn needs_attention(view: &ConsequenceView) -> bool {
    use super::Label::{Contradicted, InDoubt, Unconfirmed};
    matches!(view.consequence_label, Contradicted | InDoubt | Unconfirmed)
}
