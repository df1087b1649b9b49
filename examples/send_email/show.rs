//! Output for people. No keys, no actor ids, no raw detail (OB-14).

use std::{
    fmt,
    io::{self, Write},
};

use jiff::{Timestamp, tz::TimeZone};
use machine::{
    Id,
    contract::{AnyExecution, Evidence, InDoubt},
    store::{LoadError, Query, Store},
    stored::History,
    view::{ConsequenceView, late_evidence, render, transitions as records},
};

/// Prints a line. Ignores a closed pipe: what is committed stays committed.
pub fn say(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// The transitions of one machine, on one line.
pub async fn transitions(store: &Store, id: Id) -> anyhow::Result<()> {
    let records = records(&store.history(id).await?);
    let mut path = records.first().map(|first| first.from_status.clone()).unwrap_or_default();
    for record in &records {
        path = format!("{path} -{}-> {}", record.trigger, record.to_status);
    }
    say(format_args!("committed {id}: {path}"));
    Ok(())
}

/// The line that a reasoner sees.
pub fn consequence(execution: &AnyExecution) {
    say(format_args!("{}", render(&[ConsequenceView::of(execution)])));
}

/// An execution in doubt, and how to settle it.
pub async fn doubt(store: &Store, doubt: &InDoubt) -> anyhow::Result<()> {
    let id = doubt.execution().id();
    say(format_args!("IN DOUBT {id}: {}", doubt.question()));
    late(&store.history(id).await?);
    say(format_args!("  check whether it arrived, then: settle --db FILE {id} sent|not-sent"));
    Ok(())
}

/// A machine that cannot be read.
pub fn unreadable(error: &LoadError) {
    say(format_args!("unreadable: {error}"));
}

/// Late evidence of fenced workers. It may contradict how the execution was settled.
fn late(history: &History) {
    for evidence in late_evidence(history).into_iter().map(|late| late.evidence) {
        let (Evidence::Applied(words) | Evidence::NotApplied(words) | Evidence::Unknown(words)) =
            evidence;
        say(format_args!("    late evidence: {words}"));
    }
}

/// All machines of the database.
pub async fn status(store: &Store) -> anyhow::Result<()> {
    let mut executions: Vec<AnyExecution> = Vec::new();
    let mut query = Query::new();
    loop {
        let page = store.load_all(&query).await?;
        for found in page.items {
            // A machine that fails verification does not hide the others.
            match found {
                Ok(execution) => executions.push(execution),
                Err(error) => unreadable(&error),
            }
        }
        let Some(next) = page.next else { break };
        query = query.after(next);
    }
    for execution in &executions {
        let label = &execution.status().definition().label;
        say(format_args!("{}  {label:<9}  {}", execution.id(), execution.context().summary()));
        let history = match store.history(execution.id()).await {
            Ok(history) => history,
            Err(error) => {
                unreadable(&error);
                continue;
            }
        };
        for record in records(&history) {
            say(format_args!(
                "    {}  {} -> {} ({})",
                time(record.timestamp),
                record.from_status,
                record.to_status,
                record.actor_category
            ));
        }
        say(format_args!("    {}", ConsequenceView::of(execution)));
        late(&history);
        if let Some(next) = next_step(execution, &executions) {
            say(format_args!("    next: {next}"));
        }
    }
    Ok(())
}

/// What a person can do next.
fn next_step(execution: &AnyExecution, all: &[AnyExecution]) -> Option<String> {
    let id = execution.id();
    let gate = execution.context().behind();
    let gate = gate.and_then(|gate| all.iter().find(|other| other.id() == gate));
    match (execution, gate) {
        (AnyExecution::Waiting(waiting), _) if waiting.context().is_irreversible() => {
            Some(format!("settle {id} sent|not-sent"))
        }
        (AnyExecution::Waiting(_), _) => Some(format!("approve {id} or reject {id}")),
        (AnyExecution::Failed(_), _) => {
            let mut others = all.iter();
            let again = others.find(|other| other.context().retry_of() == Some(id));
            Some(match again {
                Some(again) => format!("none; it was retried as {}", again.id()),
                None => format!("retry {id}"),
            })
        }
        (AnyExecution::Pending(_), None) => Some(format!("retry {id}")),
        (AnyExecution::Pending(_), Some(AnyExecution::Completed(gate))) => {
            Some(format!("approve {} (approved, but not sent yet)", gate.id()))
        }
        (AnyExecution::Pending(_), Some(AnyExecution::Waiting(_))) => {
            Some("it waits for approval".to_owned())
        }
        (AnyExecution::Pending(_), Some(_)) => {
            Some("it never runs: approval was refused".to_owned())
        }
        _ => None,
    }
}

fn time(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(at) => at.to_zoned(TimeZone::system()).strftime("%H:%M:%S%.3f").to_string(),
        Err(_) => ms.to_string(),
    }
}
