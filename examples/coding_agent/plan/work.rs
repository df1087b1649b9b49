use std::{collections::BTreeSet, fmt};

use machine::contract::Outcome;
use serde::{Deserialize, Serialize};

use super::{
    hands::{Act, Deed, Receipt},
    model::{Call, Plan, Risk, Status, Step},
    trouble::Trouble,
};
use crate::{
    commands::run::Ending,
    planner::Rung,
    workspace::{
        place::Place,
        refusal::{Code, Refusal},
        set::Digest,
        tools::Lookup,
    },
};

/// What a job knows, and what it has done.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Work {
    /// The risk of the request, by the policy.
    pub risk: Risk,
    /// The lines of the task. Each line of the goal after them is an answer.
    pub lines: usize,
    /// What was read, the newest last.
    pub readings: Vec<Reading>,
    /// What was read or found, and dropped to stay within the limit.
    pub left_out: BTreeSet<String>,
    pub plan: Plan,
    /// The next call.
    pub at: Occurrence,
    /// A set to undo before that.
    pub undo: Option<usize>,
    /// The digests of the edits of the plan, of the files as they were when it was made: what its
    /// confirmation covers. One that cannot be made before a command has run, and those after it,
    /// are left out.
    pub shown: Vec<Digest>,
    /// The first check that failed, while others still run.
    pub failed: Option<Trouble>,
    /// The acts that have ended, the oldest first.
    pub ended: Vec<Entry>,
}

/// What was read or found, as a planner sees it, or why not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reading {
    pub tool: Lookup,
    pub result: Result<String, Refusal>,
}

/// Which call it is. Only a handler raises it, and no visit of a state: so a check after a repair
/// is another call, and one after a pause is not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    pub plan: String,
    /// After the last step: the verification.
    pub step: usize,
    /// The call of the step.
    pub call: usize,
    /// The number of repairs before it.
    pub attempt: u32,
    /// The number of checks before it that were interrupted.
    pub again: u32,
}

/// An act that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Occurrence,
    pub what: String,
    pub is_ok: bool,
    /// The number of the set that it made.
    pub set: Option<usize>,
    /// The number of the set that it undid.
    pub undid: Option<usize>,
    /// What was seen while it ran, if it is a command and there is something.
    pub seen: Option<SeenDuring>,
}

/// What was seen during a command. The paths changed, whoever changed them: they are no edits of
/// the agent, so nothing undoes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenDuring {
    /// The number of the command.
    pub command: usize,
    pub paths: Vec<Place>,
    /// The agent ended first: it neither passed nor failed.
    pub is_interrupted: bool,
    /// A process that it started, and that has left its group, holds its output and still runs.
    pub is_held: bool,
}

/// What a person reads at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The acts, without those that failed or were undone, each with the number of its set if it
    /// edits.
    pub what: Vec<(String, Option<usize>)>,
    /// The intents of the steps.
    pub why: Vec<String>,
    /// The checks after the last repair, and whether they passed.
    pub verified: Vec<(String, bool)>,
    /// What changed during commands.
    pub seen: Vec<SeenDuring>,
    pub risk: Risk,
    /// The number of times to undo.
    pub undo: usize,
    /// What the planner has asked for and not seen as a whole.
    pub left_out: BTreeSet<String>,
    /// What is in the way, and what a person can do.
    pub blocked: Option<String>,
}

/// How a call ended: what went wrong, if anything.
pub type CallResult = Result<(), Trouble>;

impl Work {
    /// Begins a plan, with an id that no other has.
    pub fn begin(&mut self, plan: Plan, id: String, now: i64) {
        self.at = Occurrence { plan: id.clone(), ..Occurrence::default() };
        let risk_level = plan.risk().max(plan.risk_level).max(self.risk);
        self.plan = Plan { id, created_at: now, risk_level, ..plan };
        self.settle();
    }

    /// Adds what was read. The oldest texts go if there are more than `most` bytes.
    pub fn know(&mut self, tool: Lookup, result: Result<String, Refusal>, most: usize) {
        self.readings.retain(|it| it.tool != tool);
        self.readings.push(Reading { tool, result });
        let size = |it: &Reading| it.result.as_ref().map_or(0, String::len);
        let mut left: usize = self.readings.iter().map(size).sum();
        while left > most {
            let old = self.readings.remove(0);
            left -= size(&old);
            self.left_out.insert(old.tool.to_string());
        }
    }

    /// The next call of the plan or of its verification.
    pub fn next_call(&self) -> Option<Call> {
        match self.plan.steps.get(self.at.step) {
            Some(step) => step.tool_calls.get(self.at.call).cloned(),
            None => self.plan.verification.commands.get(self.at.call).cloned().map(Call::Run),
        }
    }

    /// The digest of the next call of a plan that waits for a person, who can confirm it alone.
    pub fn first(&self) -> Option<Digest> {
        match self.next_call()? {
            Call::Read(_) => None,
            Call::Edit { .. } => self.shown.first().copied(),
            Call::Run(run) => Digest::of_call(&run).ok(),
        }
    }

    pub fn is_executed(&self) -> bool {
        self.undo.is_none() && self.at.step >= self.plan.steps.len()
    }

    pub fn is_verified(&self) -> bool {
        self.is_executed() && self.next_call().is_none()
    }

    fn is_undone(&self, set: usize) -> bool {
        self.ended.iter().any(|it| it.undid == Some(set))
    }

    /// The newest set that this job made and has not undone.
    pub fn undoable(&self) -> Option<usize> {
        let mut sets = self.ended.iter().rev().filter_map(|it| it.set);
        sets.find(|set| !self.is_undone(*set))
    }

    pub fn take(&mut self, act: &Act, outcome: Outcome<Act>) -> CallResult {
        let (mut set, mut seen) = (None, None);
        let result = match outcome {
            Err(error) => Err(Trouble::of(&error, &self.at)),
            Ok(Receipt::Ran(report)) => {
                let output = format!("{}{}", report.stdout.end, report.stderr.end);
                let failed = |code| {
                    let place = format!("(`commands/{}` of the store has more)", report.number);
                    Err(Trouble::new(code, &self.at, format!("{}\n{place}", output.trim_end())))
                };
                let paths = report.seen;
                let is_interrupted = report.ending == Ending::Interrupted;
                let (command, is_held) = (report.number, report.is_held);
                let is_noted = is_interrupted || is_held || !paths.is_empty();
                seen = is_noted.then_some(SeenDuring { command, paths, is_interrupted, is_held });
                match report.ending {
                    Ending::Exited(0) => Ok(()),
                    Ending::TimedOut => failed(Code::E_TOOL_TIMEOUT),
                    Ending::Interrupted => failed(Code::E_INTERRUPTED),
                    _ => failed(Code::E_BUILD_FAIL),
                }
            }
            Ok(Receipt::Edited(report)) => {
                set = Some(report.number).filter(|_| matches!(act.deed, Deed::Edit(_)));
                Ok(())
            }
            Ok(Receipt::Said(_)) => Ok(()),
        };
        let (at, what, is_ok) = (self.at.clone(), act.deed.to_string(), result.is_ok());
        let undid = match act.deed {
            Deed::Undo(number) if is_ok => Some(number),
            _ => None,
        };
        self.ended.push(Entry { at, what, is_ok, set, undid, seen });
        if undid.is_some() {
            self.undo = None;
        } else if is_ok && !self.is_executed() {
            self.advance();
        }
        result
    }

    /// Goes on after a check, by the policy of the plan. One that was interrupted runs again, as
    /// another call: it counts for the consent, and is no repair.
    pub fn take_check(&mut self, result: CallResult) -> CallResult {
        if result.as_ref().is_err_and(|trouble| trouble.code == Code::E_INTERRUPTED) {
            self.at.again += 1;
            return Ok(());
        }
        let policy = &self.plan.verification;
        self.at.call += 1;
        if let Err(trouble) = result {
            if policy.stop_on_fail {
                self.at.call = policy.commands.len();
            }
            let failed = self.failed.take().unwrap_or(trouble);
            self.failed = policy.required.then_some(failed);
        }
        let is_over = self.is_verified();
        self.failed.take_if(|_| is_over).map_or(Ok(()), Err)
    }

    /// Puts the steps of a repair after the one that failed, as another attempt. They also do what
    /// is left of that one.
    pub fn repair(&mut self, steps: Vec<Step>, rung: Rung) {
        if let Some(step) = self.plan.steps.get_mut(self.at.step) {
            step.status = Status::Blocked;
            self.at.step += 1;
        }
        if rung == Rung::Replan {
            self.plan.steps.truncate(self.at.step);
        }
        self.undo = self.undoable().filter(|_| rung == Rung::RollBack);
        drop(self.plan.steps.splice(self.at.step..self.at.step, steps));
        self.at.call = 0;
        self.settle();
    }

    pub fn advance(&mut self) {
        self.at.call += 1;
        self.settle();
    }

    /// Goes on to a step that has calls left.
    fn settle(&mut self) {
        while let Some(step) = self.plan.steps.get_mut(self.at.step) {
            if self.at.call < step.tool_calls.len() {
                step.status = Status::InProgress;
                return;
            }
            step.status = Status::Done;
            self.at.step += 1;
            self.at.call = 0;
        }
    }

    pub fn summary(&self, blocked: Option<&Trouble>) -> Summary {
        let is_left = |it: &&Entry| {
            it.is_ok && it.undid.is_none() && !it.set.is_some_and(|set| self.is_undone(set))
        };
        let left = self.ended.iter().filter(is_left);
        let is_interrupted = |it: &Entry| it.seen.as_ref().is_some_and(|it| it.is_interrupted);
        let is_check = |it: &&Entry| {
            let is_newest = it.at.attempt == self.at.attempt && !is_interrupted(it);
            it.at.step >= self.plan.steps.len() && is_newest
        };
        let checks = self.ended.iter().filter(is_check);
        Summary {
            what: left.clone().map(|it| (it.what.clone(), it.set)).collect(),
            why: self.plan.steps.iter().map(|step| step.intent.clone()).collect(),
            verified: checks.map(|it| (it.what.clone(), it.is_ok)).collect(),
            seen: self.ended.iter().filter_map(|it| it.seen.clone()).collect(),
            risk: self.plan.risk_level.max(self.plan.risk()),
            undo: left.filter(|it| it.set.is_some()).count(),
            left_out: self.left_out.clone(),
            blocked: blocked.map(Trouble::to_string),
        }
    }
}

impl Summary {
    /// Leaves out these sets, which were undone afterwards.
    pub fn without(mut self, undone: &BTreeSet<usize>) -> Self {
        self.what.retain(|(_, set)| !set.is_some_and(|set| undone.contains(&set)));
        self.undo = self.what.iter().filter(|(_, set)| set.is_some()).count();
        self
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match &self.result {
            Ok(text) => write!(formatter, "`{tool}`: {text}\n(end of `{tool}`)"),
            Err(refusal) => write!(formatter, "not read: {refusal}"),
        }
    }
}

impl fmt::Display for SeenDuring {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<&str> = self.paths.iter().map(Place::as_str).collect();
        let parts = [
            self.is_interrupted.then(|| "it was interrupted".to_owned()),
            self.is_held.then(|| "a process that it started still runs".to_owned()),
            Some(paths.join(", ")).filter(|paths| !paths.is_empty()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        write!(formatter, "seen during command {}: {}", self.command, parts.join("; "))
    }
}

impl fmt::Display for Occurrence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, step, call, attempt, again } = self;
        write!(formatter, "{plan}/{step}.{call}/{attempt}.{again}")
    }
}
