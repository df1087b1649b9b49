//! The output of the programs: the library's views for people, so that nothing is shown that is not
//! marked for them.

use std::{
    fmt,
    io::{self, Write},
};

use machine::{
    Id,
    contract::execution,
    journal::Fact,
    observe::Observer,
    store::{LoadError, Position, Store, Subscription},
    view::{Human, Snapshot},
};
use serde_json::Value;

use crate::{record::task_record, workflow::workflow};

/// Prints a line. Ignores a closed pipe: what is committed stays committed.
pub fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// The end of an id, which is enough for the commands.
pub fn short(id: Id) -> String {
    let id = id.to_string();
    id[id.len() - 8..].to_owned()
}

/// Prints an engine's need for a person.
fn intervention(engine: &Snapshot<Human>) {
    let field = |name: &str| engine.state.get(name).map(text).unwrap_or_default();
    let (reason, state) = (field("reason"), field("paused_in"));
    say(format_args!("  {} asks, {state}: {reason}", short(engine.id)));
    for (name, label) in [
        ("explanation", "because"),
        ("goal", "goal"),
        ("instructions", "told"),
        ("history", "so far"),
        ("reasoning", "agent"),
        ("proposed_action", "proposed"),
        ("later", "later"),
    ] {
        let mut label = label;
        for line in lines(engine.state.get(name)) {
            say(format_args!("      {label:<9} {line}"));
            label = "";
        }
    }
}

/// Prints the calls of an engine that have begun and not ended: a pause does not stop them.
async fn under_way(store: &Store, engine: Id) -> Result<(), LoadError> {
    for child in store.children(engine).await? {
        if child.has_ended || child.machine != execution::DEFINITION.name {
            continue;
        }
        let call = Observer::new(store).execution::<Human>(child.id).await?;
        let (summary, age) = (call.action_summary.clone(), call.duration_in_state_ms / 1_000);
        say(format_args!("      under way {summary}, {} for {age} s", call.label));
    }
    Ok(())
}

/// Prints how a task ended, and what was done.
pub fn ended(record: &Snapshot<Human>) {
    let goal = record.context.get("goal").map(text).unwrap_or_default();
    let why = ["result", "error", "reason"].into_iter().find_map(|name| record.state.get(name));
    let why = why.map(text).unwrap_or_default();
    say(format_args!("  {} {}: {goal}: {why}", short(record.id), record.label));
    for line in lines(record.state.get("history")) {
        say(format_args!("      {line}"));
    }
}

/// A line for each item of a list, or for a text that is not empty.
fn lines(value: Option<&Value>) -> Vec<String> {
    let lines = match value {
        Some(Value::Array(items)) => items.iter().map(text).collect(),
        other => vec![other.map(text).unwrap_or_default()],
    };
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

/// Invisible characters are escaped, so that a text stays on its line.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.escape_debug().to_string(),
        other => other.to_string(),
    }
}

/// Tells people in real time what concerns them, whichever process does it.
#[derive(Debug)]
pub struct Log {
    store: Store,
    entries: Subscription,
    at: Position,
}

impl Log {
    /// From now on.
    pub async fn begin(store: &Store) -> Result<Self, LoadError> {
        let at = store.position().await?;
        let entries = store.subscribe(Some(at)).await?;
        Ok(Self { store: store.clone(), entries, at })
    }

    /// Prints until the store can no longer be read.
    pub async fn follow(&mut self) -> LoadError {
        loop {
            if let Err(error) = self.next().await {
                return error;
            }
        }
    }

    /// Prints what has been committed up to now.
    pub async fn finish(&mut self) -> Result<(), LoadError> {
        let end = self.store.position().await?;
        while self.at < end {
            self.next().await?;
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<(), LoadError> {
        let committed = self.entries.next().await?;
        self.at = committed.position;
        let entry = &committed.entry;
        let Fact::Moved { to, .. } = &entry.fact else { return Ok(()) };
        let waits = entry.definition == workflow::DEFINITION.fingerprint
            && *to == workflow::Status::ManualIntervention.as_str();
        let has_ended = entry.definition == task_record::DEFINITION.fingerprint;
        if !waits && !has_ended {
            return Ok(());
        }
        let machine = Observer::new(&self.store).snapshot::<Human>(committed.id).await?;
        if has_ended {
            ended(&machine);
        } else if machine.status == workflow::Status::ManualIntervention.as_str() {
            // Unless it has been decided already.
            intervention(&machine);
            under_way(&self.store, machine.id).await?;
        }
        Ok(())
    }
}
