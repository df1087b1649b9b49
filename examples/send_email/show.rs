//! Output for people. No keys, no ids of actors, no raw data (OB-14).

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Write},
};

use jiff::{Timestamp, tz::TimeZone};
use machine::{
    Id,
    contract::{AnyExecution, Gate, waits_for},
    store::{Query, Store},
    view::{self, ConsequenceView, Label, TransitionRecord, transitions},
};

/// Prints a line. Ignores a closed pipe: what is committed stays committed.
pub fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// The outcome of an execution, and what a person can do about it.
pub fn execution(execution: &AnyExecution) {
    entry(execution, None, next(execution, &[]));
}

/// The line that a reasoner sees, too, with what it waits for, why it was set aside, and the next step.
fn entry(execution: &AnyExecution, set_aside: Option<&str>, next: Option<String>) {
    say(format_args!("{}  {}", execution.id(), ConsequenceView::of(execution)));
    if let AnyExecution::Waiting(waiting) = execution {
        say(format_args!("    {}", waits_for(waiting).replace('\n', "\n    ")));
    }
    if let Some(error) = set_aside {
        say(format_args!("    set aside: {error}"));
    }
    if let Some(next) = next {
        say(format_args!("    next: {next}"));
    }
}

/// A question to a person, and how to answer it.
pub fn question(gate: &Gate) {
    let id = gate.id();
    say(format_args!("{id}  {}", gate.question().replace('\n', "\n    ")));
    say(format_args!("    next: approve {id} --as NAME, or decline {id} --as NAME"));
}

/// What needs attention, or everything. What is in doubt or contradicts itself comes first.
pub async fn status(store: &Store, all: bool) -> anyhow::Result<()> {
    let mut executions: Vec<AnyExecution> = Vec::new();
    let mut query = Query::new();
    loop {
        let page = store.load_all(&query).await?;
        for found in page.items {
            // One that cannot be read does not hide the others.
            match found {
                Ok(execution) => executions.push(execution),
                Err(error) => say(format_args!("unreadable: {error}")),
            }
        }
        let Some(next) = page.next else { break };
        query = query.after(next);
    }
    executions.sort_by_key(|any| !matches!(label(any), Label::InDoubt | Label::Contradicted));
    let set_aside = store.set_aside().await?;
    let mut machines: BTreeMap<_, _> = set_aside.machines.into_iter().collect();
    for any in &executions {
        let mut next = next(any, &executions);
        let error = machines.remove(&any.id());
        if error.is_some() {
            let or = next.map(|next| format!(", or {next}")).unwrap_or_default();
            next = Some(format!("requeue {}{or}", any.id()));
        }
        if next.is_none() && !all {
            continue;
        }
        entry(any, error.flatten().as_deref(), next);
        if all {
            match store.history(any.id()).await {
                Ok(history) => transitions::<view::Human>(&history).iter().for_each(transition),
                Err(error) => say(format_args!("    unreadable: {error}")),
            }
        }
    }
    // Those that cannot be read.
    for (id, error) in machines {
        say(format_args!("{id}  set aside: {}", error.unwrap_or_default()));
    }
    for message in set_aside.messages.iter().filter(|_| all) {
        let error = message.error.as_deref().unwrap_or_default();
        say(format_args!("{}  a message was set aside: {error}", message.to));
    }
    Ok(())
}

fn transition(step: &TransitionRecord) {
    let (at, who) = (time(step.timestamp), step.actor_category);
    say(format_args!("    {at}  {} -> {} ({who})", step.from_status, step.to_status));
}

/// What a person can do. Nothing that has not ended is without it.
fn next(any: &AnyExecution, all: &[AnyExecution]) -> Option<String> {
    let (id, contract) = (any.id(), any.context());
    let find = |id: Id| all.iter().find(|other| other.id() == id).map(label);
    match (label(any), contract.behind().map(find)) {
        (Label::InDoubt, _) => Some(format!("settle {id} sent|not-sent --as NAME")),
        (Label::Waiting, _) => Some(format!("approve {id} --as NAME, or decline {id} --as NAME")),
        (Label::InProgress, _) => Some(format!("wait for `work`, or fence {id}")),
        (Label::NotStarted, None | Some(Some(Label::Success))) => {
            Some(format!("run `work` to send it, or cancel {id}"))
        }
        (Label::NotStarted, Some(Some(Label::Waiting))) => None, // its gate says what to do
        (Label::NotStarted, _) => Some(format!("run `work` to end it, or cancel {id}")),
        (Label::Failed, _) => {
            // Unless another attempt at the same mail is newer, open, or took place.
            let mut others = all
                .iter()
                .filter(|other| other.id() != id)
                .filter(|other| other.context().idempotency_key() == contract.idempotency_key());
            let superseded = others.any(|other| match label(other) {
                Label::Failed => other.id() > id,
                other => other != Label::Cancelled,
            });
            (!superseded).then(|| format!("retry {id} --as NAME"))
        }
        (Label::Contradicted, _) => {
            Some("tell the recipient: it was sent, perhaps twice".to_owned())
        }
        _ => None,
    }
}

/// What a reasoner would be told.
pub fn label(any: &AnyExecution) -> Label {
    ConsequenceView::of(any).consequence_label
}

/// The time of day.
pub fn time(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(at) => at.to_zoned(TimeZone::system()).strftime("%H:%M:%S%.3f").to_string(),
        Err(_) => ms.to_string(),
    }
}
