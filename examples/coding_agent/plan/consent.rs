//! The proof that a person has allowed a call, which the dangerous tools take.
//!
//! A [`Consent`] is borrowed from a job, whose scope only the answer of a person fills. It makes
//! [`Confirmed`] of a call that its scope covers:
//!
//! ```
//! use coding_agent::{
//!     commands::run::Run,
//!     plan::{consent::{Consent, Undo}, hands::{edit, run, undo}, job::{Job, job::Executing}},
//!     workspace::{edits::Workspace, set::EditSet},
//! };
//!
//! let confirmed = |folder: &Workspace, job: &Job<Executing>, set: EditSet, call: Run| {
//!     let consent = Consent::of(job)?;
//!     edit(folder, &consent.confirm(set, 0)?)?;
//!     undo(folder, &consent.confirm(Undo(1), 0)?)?;
//!     run(folder, &consent.confirm(call, 0)?)
//! };
//! ```
//!
//! Nothing else does. A call without consent does not compile:
//!
//! ```compile_fail
//! use coding_agent::{commands::run::Run, plan::hands::run, workspace::edits::Workspace};
//! let without = |folder: &Workspace, call: Run| run(folder, &call);
//! ```
//!
//! ```compile_fail
//! use coding_agent::{plan::hands::edit, workspace::{edits::Workspace, set::EditSet}};
//! let without = |folder: &Workspace, set: EditSet| edit(folder, &set);
//! ```
//!
//! ```compile_fail
//! use coding_agent::{plan::{consent::Undo, hands::undo}, workspace::edits::Workspace};
//! let without = |folder: &Workspace| undo(folder, &Undo(1));
//! ```
//!
//! ```compile_fail
//! use coding_agent::{commands::run::Run, plan::{consent::Confirmed, work::Work}};
//! fn forged(call: Run, work: &Work) -> Confirmed<'_, Run> {
//!     Confirmed { call, digest: None, work }
//! }
//! ```
//!
//! ```compile_fail
//! use coding_agent::plan::{consent::Consent, job::{Job, job::AwaitingConfirmation}};
//! let early = |job: &Job<AwaitingConfirmation>| Consent::of(job).is_ok();
//! ```

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    job::{Job, job::Running},
    model::Plan,
    work::Work,
};
use crate::{
    commands::run::Run,
    workspace::{
        edits::Workspace,
        place::Place,
        refusal::{Code, Refusal, Why},
        set::{Digest, EditSet},
        store::Record,
    },
};

const NO_CONSENT: Why = (Code::E_POLICY_DENIED, "no person has confirmed the plan");
const NOT_COVERED: Why = (Code::E_POLICY_DENIED, "the consent does not cover this call");
const NOT_SHOWN: Why = (Code::E_CONFLICT, "a file has changed since the plan was made");

/// What a person allows, as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The first call, if it has this digest.
    Once(Digest),
    Plan(Bounds),
}

/// What the calls of a plan, and of its repairs, may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The files that may be edited.
    pub paths: BTreeSet<Place>,
    /// The commands, with all their arguments.
    pub argv: BTreeSet<Vec<String>>,
    /// The longest time of a command, in milliseconds.
    pub timeout: u64,
    /// The most calls.
    pub calls: usize,
    /// The end of the consent, in milliseconds since the Unix epoch.
    pub until: i64,
}

impl Bounds {
    /// What a plan and its repairs ask for.
    pub fn of(plan: &Plan, repairs: usize, until: i64) -> Self {
        let argv = plan.runs().map(|run| run.argv).collect();
        let timeout = plan.runs().map(|run| run.timeout).max().unwrap_or_default();
        let paths = plan.steps.iter().flat_map(|step| step.expected_artifacts.clone()).collect();
        let calls = (plan.calls().count() + 1) * (repairs + 1);
        Self { paths, argv, timeout, calls, until }
    }
}

/// A call that needs consent.
pub trait Dangerous: Serialize {
    /// Bounds name the whole call, and not only a part of it.
    const IS_NAMED: bool;

    fn is_within(&self, bounds: &Bounds, work: &Work) -> bool;

    /// It may differ from what the person has seen: a repair, or after a command that has changed
    /// its files.
    fn may_differ(&self, _: &Work) -> bool {
        true
    }
}

/// The call that undoes the set with this number. Bounds cover the newest set of their job.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Undo(pub usize);

impl Dangerous for EditSet {
    const IS_NAMED: bool = false;

    fn is_within(&self, bounds: &Bounds, _: &Work) -> bool {
        self.changes.iter().all(|change| bounds.paths.contains(&change.path))
    }

    fn may_differ(&self, work: &Work) -> bool {
        let mut seen = work.ended.iter().flat_map(|it| &it.seen).flat_map(|seen| &seen.paths);
        work.at.attempt > 0 || seen.any(|path| self.changes.iter().any(|it| it.path == *path))
    }
}

impl Dangerous for Run {
    const IS_NAMED: bool = true;

    fn is_within(&self, bounds: &Bounds, _: &Work) -> bool {
        bounds.argv.contains(&self.argv) && self.timeout <= bounds.timeout
    }
}

impl Dangerous for Undo {
    const IS_NAMED: bool = true;

    fn is_within(&self, _: &Bounds, work: &Work) -> bool {
        work.undoable() == Some(self.0)
    }
}

/// What a person has allowed a job.
#[derive(Debug, Clone, Copy)]
pub struct Consent<'a> {
    scope: &'a Scope,
    work: &'a Work,
}

impl<'a> Consent<'a> {
    pub fn of<S: Running>(job: &'a Job<S>) -> Result<Self, Refusal> {
        let scope = job.consent().as_ref();
        let scope = scope.ok_or_else(|| Refusal::new(job.id(), NO_CONSENT))?;
        Ok(Self { scope, work: job.work() })
    }

    /// Confirms a call at this time, if the scope covers it.
    pub fn confirm<T: Dangerous>(&self, call: T, now: i64) -> Result<Confirmed<'a, T>, Refusal> {
        let (digest, acts) = (Digest::of_call(&call)?, self.work.ended.len());
        let (is_covered, is_named) = match self.scope {
            Scope::Once(once) => (*once == digest && acts == 0, true),
            Scope::Plan(bounds) => {
                let is_in_time = now <= bounds.until && acts < bounds.calls;
                let is_named = T::IS_NAMED || self.work.shown.contains(&digest);
                (is_in_time && call.is_within(bounds, self.work), is_named)
            }
        };
        if !is_covered {
            return Err(Refusal::new(digest, NOT_COVERED));
        }
        if !is_named && !call.may_differ(self.work) {
            return Err(Refusal::new(digest, NOT_SHOWN));
        }
        Ok(Confirmed { call, digest: is_named.then_some(digest), work: self.work })
    }
}

/// A call that a person has allowed.
#[derive(Debug)]
pub struct Confirmed<'a, T> {
    call: T,
    /// Its digest, if the person has seen exactly this call.
    digest: Option<Digest>,
    /// What its job has done before it.
    work: &'a Work,
}

impl<T> Confirmed<'_, T> {
    pub fn call(&self) -> &T {
        &self.call
    }

    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }
}

impl Confirmed<'_, EditSet> {
    /// Refuses edits that nobody has seen and that remove most of a file, together with the sets
    /// that their job has made before.
    pub fn keeps_most(&self, workspace: &Workspace) -> Result<(), Refusal> {
        if self.digest.is_some() {
            return Ok(());
        }
        let (undone, mut seen, mut all) = (workspace.undone()?, Vec::new(), Vec::new());
        let made = self.work.ended.iter().filter_map(|it| it.set);
        for number in made.filter(|number| !undone.contains(number)) {
            let Record { set, .. } = workspace.store.record(number)?;
            if self.work.shown.contains(&Digest::of_call(&set)?) {
                seen.push(set.clone());
            }
            all.push(set);
        }
        // A person has allowed that these remove most: what nobody has seen counts from there.
        let allowed = workspace.keeps_most(&seen);
        if allowed.is_err_and(|refusal| refusal.code == Code::E_POLICY_DENIED) {
            all.retain(|set| !seen.contains(set));
        }
        all.push(self.call.clone());
        workspace.keeps_most(&all)
    }
}
