use std::{
    fmt::{self, Display},
    io::{self, ErrorKind, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use coding_agent::{
    plan::{
        consent::{Bounds, Scope},
        job::Answer,
        model::Plan,
        trouble::Trouble,
        work::{Entry, Summary},
    },
    workspace::set::Digest,
};
use indicatif::ProgressBar;
use inquire::{InquireError, Select, Text};
use machine::text::is_invisible;
use serde::Serialize;

/// A person is at a prompt: Control-C ends it, and the program goes on.
pub static IS_AT_PROMPT: AtomicBool = AtomicBool::new(false);

/// The time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(120);

/// The first is what Enter alone means.
const CHOICES: [&str; 3] = ["no", "yes, the plan and its repairs", "yes, its first call alone"];

/// Where the program tells what happens, and asks.
#[derive(Clone)]
pub enum Face {
    /// A line of JSON for each event, and no questions.
    Json,
    Terminal(ProgressBar),
}

/// What the program tells: a line of JSON, or a text.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Told<'a> {
    /// The job has come to this state.
    State {
        state: &'a str,
    },
    /// An act has ended.
    Act(&'a Entry),
    /// A plan waits for a person.
    Plan {
        plan: &'a Plan,
        diff: &'a str,
        bounds: &'a Bounds,
        objections: &'a [String],
    },
    /// A person has to do this; each command is one way to do it.
    Asks {
        questions: &'a [String],
        commands: &'a [String],
    },
    Note {
        text: &'a str,
    },
    /// The job is done, or blocked.
    Summary(&'a Summary),
    /// The program ends before that.
    Error {
        next_step: &'static str,
        #[serde(flatten)]
        trouble: &'a Trouble,
    },
}

impl Face {
    /// A terminal, if a person is there and does not want JSON.
    pub fn new(wants_json: bool) -> Self {
        if is_for_programs(wants_json) {
            return Self::Json;
        }
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(TICK);
        Self::Terminal(bar)
    }

    pub fn tell(&self, told: &Told<'_>) {
        match self {
            Self::Json => print(&serde_json::to_string(told).unwrap_or_default()),
            Self::Terminal(bar) => {
                if let Told::State { state } = told {
                    bar.set_message((*state).to_owned());
                }
                bar.suspend(|| print(&visible(&told.to_string())));
            }
        }
    }

    pub fn note(&self, text: &str) {
        self.tell(&Told::Note { text });
    }

    /// Asks each question; `None` if nobody answers.
    pub fn answers(&self, questions: &[String]) -> Result<Option<String>, InquireError> {
        self.ask(|| {
            let answers = questions.iter().map(|it| Text::new(&visible(&line(it))).prompt());
            Ok(answers.collect::<Result<Vec<_>, _>>()?.join("\n"))
        })
    }

    /// Asks for the confirmation of a plan, or of its first call if that can be made; `None` if
    /// nobody answers.
    pub fn confirmation(
        &self,
        plan: Bounds,
        first: Option<Digest>,
    ) -> Result<Option<Answer>, InquireError> {
        self.ask(|| {
            // With a filter, `n` would also find the words of the plan.
            let choice = Select::new("Confirm?", CHOICES.to_vec()).without_filtering();
            let choice = choice.with_help_message("↑↓ to move, enter to select").raw_prompt()?;
            Ok(match (choice.index, first) {
                (1, _) => Answer::Yes(Scope::Plan(plan)),
                (2, Some(first)) => Answer::Yes(Scope::Once(first)),
                (2, None) => Answer::No("its first call cannot be made".to_owned()),
                _ => Answer::No(Text::new("Why not?").prompt()?),
            })
        })
    }

    fn ask<T>(
        &self,
        prompt: impl FnOnce() -> Result<T, InquireError>,
    ) -> Result<Option<T>, InquireError> {
        let Self::Terminal(bar) = self else { return Ok(None) };
        IS_AT_PROMPT.store(true, Relaxed);
        let answer = match bar.suspend(prompt) {
            // Control-C, whose signal may still be on its way.
            Err(InquireError::IO(error)) if error.kind() == ErrorKind::Interrupted => {
                return Ok(None);
            }
            Err(InquireError::OperationCanceled) => Ok(None),
            answer => answer.map(Some),
        };
        IS_AT_PROMPT.store(false, Relaxed);
        answer
    }
}

fn is_for_programs(wants_json: bool) -> bool {
    wants_json || !io::stdin().is_terminal() || !io::stdout().is_terminal()
}

/// Tells an error to people and, as a line of JSON, to programs.
pub fn fail(trouble: &Trouble, wants_json: bool) {
    let told = Told::Error { next_step: trouble.next_step(), trouble };
    if is_for_programs(wants_json) {
        Face::Json.tell(&told);
    }
    let _ = writeln!(io::stderr(), "{}", visible(&told.to_string()));
}

/// Ignores a closed pipe: what is committed stays committed.
fn print(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// A text of a model or of a file, which could move the cursor or hide a part of itself.
fn visible(text: &str) -> String {
    let mut visible = String::new();
    for one in text.chars() {
        if is_invisible(one) && !matches!(one, '\n' | '\t') {
            visible.extend(one.escape_unicode());
        } else {
            visible.push(one);
        }
    }
    visible
}

/// A text of a model as one line: others would look like lines of the program.
fn line(text: &str) -> String {
    text.replace('\n', "\\n")
}

impl Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State { state } => write!(f, "{state}"),
            Self::Act(entry) => {
                write!(f, "  {}: {}", if entry.is_ok { "made" } else { "failed" }, entry.what)?;
                entry.seen.iter().try_for_each(|seen| write!(f, "\n  {seen}"))
            }
            Self::Plan { plan, diff, bounds, objections } => {
                writeln!(f, "The plan {}, of {:?} risk:", plan.id, plan.risk_level)?;
                for step in &plan.steps {
                    writeln!(f, "  {}: {}", line(&step.title), line(&step.intent))?;
                }
                for run in plan.runs() {
                    writeln!(f, "  run {:?}, for at most {} ms", run.argv, run.timeout)?;
                }
                for path in &bounds.paths {
                    writeln!(f, "  it and its repairs may edit {path}")?;
                }
                for objection in *objections {
                    writeln!(f, "  careful: {}", line(objection))?;
                }
                f.write_str(diff)
            }
            Self::Asks { questions, commands } => {
                for question in *questions {
                    writeln!(f, "{}", line(question))?;
                }
                write!(f, "Answer with one of these:\n  {}", commands.join("\n  "))
            }
            Self::Note { text } => f.write_str(&line(text)),
            Self::Summary(summary) => write_summary(summary, f),
            // It can end with a command.
            Self::Error { trouble, .. } => write!(f, "error: {trouble:#}"),
        }
    }
}

fn write_summary(summary: &Summary, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Summary { what, why, verified, seen, risk, undo, left_out, blocked } = summary;
    match blocked {
        None => writeln!(f, "Done:")?,
        Some(blocked) => writeln!(f, "Blocked: {blocked}\nWhat was done:")?,
    }
    for (act, _) in what {
        writeln!(f, "  {act}")?;
    }
    let why: Vec<String> = why.iter().map(|intent| line(intent)).collect();
    writeln!(f, "because:\n  {}", why.join("\n  "))?;
    for (check, is_ok) in verified {
        writeln!(f, "{}: {check}", if *is_ok { "passed" } else { "failed" })?;
    }
    if verified.is_empty() {
        writeln!(f, "not verified: no check has run")?;
    }
    for seen in seen {
        writeln!(f, "{seen}")?;
    }
    for what in left_out {
        writeln!(f, "not shown to the planner, which had no room for it: {what}")?;
    }
    write!(f, "The risk is {risk:?}. Sets of edits that `undo` takes back: {undo}.")
}
