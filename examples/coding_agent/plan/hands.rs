use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use machine::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    consent::{Confirmed, Consent, Undo},
    job::AnyJob,
};
use crate::{
    commands::{
        run::{Ending as RunEnding, Report as RunReport, Run},
        runner::Commands,
    },
    workspace::{
        edits::Workspace,
        refusal::{self, At, Code, Refusal, Why},
        set::{EditSet, Ending, Report},
        store::{Phase, Record},
    },
};

const NOT_ACTIVE: Why = (Code::E_POLICY_DENIED, "its job makes no calls now");
const NOT_MADE: Why = (Code::E_CONFLICT, "it was not made");
const NOT_NEWEST: Why = (Code::E_CONFLICT, "there are newer edits, or they are undone");
const IN_DOUBT: Why = (Code::E_IO, "a path is neither as before nor as after: look at it");

/// The call of a state: it edits, undoes or runs. A command has its own time limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tool)]
#[tool(
    agent.act,
    irreversible,
    about = "{deed}",
    receipt = Receipt,
    refusal = Refusal,
    timeout = None,
    settling_time = Duration::ZERO
)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// The job, whose person has confirmed the call.
    pub job: Id,
    /// The number of the newest set or command before it: the record of this one comes after it.
    pub after: usize,
    /// It verifies: a person expects it to run again.
    pub is_check: bool,
    pub deed: Deed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    Edit(EditSet),
    /// Undoes the set with this number.
    Undo(usize),
    Run(Run),
}

/// What proves that a call took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Receipt {
    Edited(Report),
    Ran(RunReport),
    /// The word of a person about a call that was in doubt.
    #[serde(untagged)]
    Said(String),
}

/// Makes the calls of jobs in a folder, one at a time.
pub struct Hands {
    pub workspace: Arc<Mutex<Workspace>>,
    /// Where the jobs are.
    pub jobs: Store,
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn edit(workspace: &Workspace, set: &Confirmed<'_, EditSet>) -> Result<Report, Refusal> {
    set.keeps_most(workspace)?;
    workspace.apply(set.call(), set.digest())
}

/// Undoes edits, which a person has allowed, if they are the newest of the folder.
pub fn undo(workspace: &Workspace, set: &Confirmed<'_, Undo>) -> Result<Report, Refusal> {
    let Undo(number) = *set.call();
    match workspace.undoable()? {
        Some((newest, _)) if newest == number => workspace.undo(),
        _ => Err(Refusal::new(number, NOT_NEWEST)),
    }
}

pub fn run(workspace: &Workspace, command: &Confirmed<'_, Run>) -> Result<RunReport, Refusal> {
    Commands::new(workspace).run(command.call(), command.digest())
}

/// Makes a call, if the job that has made it has the consent of a person.
fn make(workspace: &Workspace, job: &AnyJob, act: &Act, now: i64) -> Result<Receipt, Refusal> {
    let consent = match job {
        AnyJob::Executing(job) => Consent::of(job)?,
        AnyJob::Verifying(job) => Consent::of(job)?,
        _ => return Err(Refusal::new(act.job, NOT_ACTIVE)),
    };
    let named = |refusal: Refusal| Refusal { at: act.deed.to_string(), ..refusal };
    let report = match act.deed.clone() {
        Deed::Edit(set) => edit(workspace, &consent.confirm(set, now).map_err(named)?)?,
        Deed::Undo(number) => undo(workspace, &consent.confirm(Undo(number), now).map_err(named)?)?,
        Deed::Run(command) => {
            let command = consent.confirm(command, now).map_err(named)?;
            return run(workspace, &command).map(Receipt::Ran);
        }
    };
    edited(report)?.ok_or_else(|| Refusal::new(&act.deed, NOT_MADE))
}

/// Finds what a call did that has no receipt: its process died, or it has failed. Of a command that
/// was interrupted nobody knows what it did, unless it is a check, which does nothing.
fn find(workspace: &Workspace, act: &Act) -> Result<Option<Receipt>, Refusal> {
    workspace.recover()?;
    let (undone, made) = match &act.deed {
        Deed::Edit(set) => (None, Some(set)),
        Deed::Undo(number) => (Some(*number), None),
        Deed::Run(run) => {
            let report = Commands::new(workspace).find(act.after, run)?;
            let report = report.filter(|report| report.ending != RunEnding::NotStarted);
            let is_interrupted = |it: &RunReport| it.ending == RunEnding::Interrupted;
            if !act.is_check && report.as_ref().is_some_and(is_interrupted) {
                return Err(Refusal::new(&act.deed, refusal::INTERRUPTED));
            }
            return Ok(report.map(Receipt::Ran));
        }
    };
    for number in workspace.store.numbers()?.into_iter().filter(|number| *number > act.after) {
        let Record { set, undoes, phase, conflicts, .. } = workspace.store.record(number)?;
        let is_it = undoes == undone && made.is_none_or(|made| *made == set);
        if let (true, Phase::Ended(ending)) = (is_it, phase) {
            return edited(Report { number, ending, conflicts });
        }
    }
    Ok(None)
}

/// The receipt of edits that took effect.
fn edited(report: Report) -> Result<Option<Receipt>, Refusal> {
    match report.ending {
        Ending::Applied => Ok(Some(Receipt::Edited(report))),
        Ending::NotApplied => Ok(None),
        Ending::InDoubt => {
            let paths: Vec<_> = report.conflicts.iter().map(|it| it.path.as_str()).collect();
            Err(Refusal::new(paths.join(", "), IN_DOUBT))
        }
    }
}

impl Perform<Act> for Hands {
    async fn perform(&self, call: &Call<Act>) -> Answer<Receipt, Refusal> {
        let act = call.arguments.clone();
        let job = self.jobs.load::<AnyJob>(act.job).await.at(act.job).or_refused()?;
        let (workspace, now, part) =
            (Arc::clone(&self.workspace), self.jobs.now(), call.in_flight());
        let answer = spawn_blocking(move || {
            let workspace = lock(&workspace);
            let made = make(&workspace, &job, &act, now).map(Applied::new);
            let answer = made.or_else(|refusal| found(&workspace, &act, refusal));
            part.answer(answer.clone());
            answer
        });
        answer.await?
    }

    async fn find(&self, attempt: &Attempt<Act>) -> Answer<Receipt, Refusal> {
        let act = &attempt.arguments;
        found(&lock(&self.workspace), act, Refusal::new(&act.deed, NOT_MADE))
    }
}

/// Answers with what a call did or, if it did nothing, with why.
fn found(workspace: &Workspace, act: &Act, why: Refusal) -> Answer<Receipt, Refusal> {
    match find(workspace, act) {
        Ok(Some(receipt)) => Ok(Applied::new(receipt)),
        Ok(None) => Err(NoReceipt::NotApplied(why)),
        Err(refusal) => Err(NoReceipt::unknown(refusal)),
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edit(set) => {
                let paths: Vec<_> = set.changes.iter().map(|it| it.path.as_str()).collect();
                write!(formatter, "edit {}", paths.join(", "))
            }
            Self::Undo(number) => write!(formatter, "undo edits {number}"),
            Self::Run(run) => write!(formatter, "run {:?}", run.argv),
        }
    }
}
