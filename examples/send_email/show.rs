//! The output of the agent and the worker. Everything else is shown by the commands of the library.

use std::{
    fmt,
    io::{self, Write},
};

use machine::{
    contract::AnyExecution,
    observe::Observer,
    store::LoadError,
    view::{ConsequenceView, ExecutionSnapshot, Human, Language},
};
use machine_console::cli::Context;

/// Prints a line. Ignores a closed pipe: what is committed stays committed.
pub fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// The line that a reasoner sees, the question that it waits with, and what a person can do.
pub async fn execution(
    context: &Context,
    observer: &Observer,
    execution: &AnyExecution,
) -> Result<(), LoadError> {
    say(format_args!("{}  {}", execution.id(), ConsequenceView::of(execution)));
    if let Some(question) =
        ExecutionSnapshot::<Human>::of(execution, 0, Language::English).question.clone()
    {
        say(format_args!("    {}", question.replace('\n', "\n    ")));
    }
    for step in observer.next(execution.id()).await? {
        say(format_args!("    next: {}", context.line(step)));
    }
    Ok(())
}
