use std::collections::{BTreeMap, BTreeSet};

use super::{defects::token_of, process::Process, shared::WENT_BACK};
use crate::{
    id::Id,
    store::{
        CommitError,
        backend::{AppliedBatch, Rejected, Write, WriteBatch},
        inbox::protocol::{
            Attempted, Claim, Event, EventOutcome, EventRefusal, Fail, Moved, Switch, Wait,
        },
    },
    stored::Hold,
};

/// The simulation's knowledge of a schedule: each batch that the store was asked to write, with the
/// answer, in the order in which it was decided.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) machines: Vec<Known>,
    numbers: BTreeMap<Id, usize>,
    /// The commits that were written.
    commits: BTreeSet<i64>,
    /// The number of calls of the handler, by machine and state.
    pub(super) calls: BTreeMap<(usize, &'static str), usize>,
    /// The messages whose sender knows that they arrived, by machine and correlation id.
    pub(super) confirmed: BTreeSet<(usize, String)>,
    /// The messages that a person requeued, by machine and correlation id.
    pub(super) requeued: BTreeSet<(usize, String)>,
    /// The whole questions that a person approves, by their calls.
    pub(super) shown: BTreeMap<Id, String>,
    /// The machines that made calls by entering a state, by their calls.
    parents: BTreeMap<Id, Id>,
    /// When a process last read of a machine that no deadline has to fire.
    free: BTreeMap<(usize, Id), usize>,
    /// When a process last claimed a machine.
    claimed: BTreeMap<(usize, Id), usize>,
    /// The number of these reads and claims.
    steps: usize,
    pub(super) counts: BTreeMap<&'static str, usize>,
    /// The violations of invariants.
    pub(super) violations: Vec<String>,
    pub(super) trace: Vec<String>,
    is_traced: bool,
}

/// A machine.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) id: Id,
    pub(super) kind: String,
    pub(super) ended: bool,
    /// The newest token that was granted.
    token: u64,
    /// The process that it was granted to.
    holder: usize,
}

impl Ledger {
    pub(super) fn new(is_traced: bool) -> Self {
        Self { is_traced, ..Self::default() }
    }

    pub(super) fn number(&self, id: Id) -> Option<usize> {
        self.numbers.get(&id).copied()
    }

    /// The machine that was created first, unless it is this one; and the number of this one.
    pub(super) fn first_and(&self, id: Id) -> Option<(Id, u64)> {
        let first = self.machines.first()?.id;
        Some((first, self.number(id)? as u64)).filter(|_| first != id)
    }

    pub(super) fn all_ended(&self) -> bool {
        self.machines.iter().all(|machine| machine.ended)
    }

    pub(super) fn has_ended(&self, id: Id) -> bool {
        self.number(id).is_some_and(|number| self.machines[number].ended)
    }

    /// A process has read of this machine that no deadline has to fire.
    pub(super) fn read_free(&mut self, process: &Process, id: Id) {
        self.steps += 1;
        self.free.insert((process.number, id), self.steps);
    }

    pub(super) fn is_holder(&self, process: &Process, id: Id) -> bool {
        self.number(id).is_some_and(|number| self.machines[number].holder == process.number)
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// A person requeues these messages of a machine, or the machine.
    pub(super) fn requeued(&mut self, id: Id, messages: &[&str]) {
        self.count("requeued");
        let Some(number) = self.number(id) else { return };
        self.requeued.extend(messages.iter().map(|message| (number, (*message).to_owned())));
    }

    /// Adds a line to the trace. It has no ids, which differ from run to run.
    pub(super) fn trace(&mut self, process: &Process, text: impl FnOnce() -> String) {
        if self.is_traced {
            self.trace.push(format!("p{} {}", process.number, text()));
        }
    }

    pub(super) fn called(&mut self, process: &Process, id: Id, state: &'static str) {
        let Some(number) = self.number(id) else { return };
        *self.calls.entry((number, state)).or_default() += 1;
        self.trace(process, || format!("handles m{number} {state}"));
    }

    /// Notes a batch with the answer of the store. Returns the machines that are new.
    pub(super) fn note(
        &mut self,
        process: &Process,
        batch: &WriteBatch,
        answer: &Result<AppliedBatch, Rejected>,
    ) -> Vec<usize> {
        let outcomes = match answer {
            Ok(_) if !batch.writes.is_empty() && !self.commits.insert(batch.commit_id) => {
                self.count("commits that were recognized");
                self.trace(process, || "commits again".to_owned());
                return Vec::new();
            }
            Ok(applied) => &applied.outcomes,
            Err(rejected) => {
                self.rejected(process, batch, rejected);
                return Vec::new();
            }
        };
        let of_states = batch.children.iter().filter(|it| it.position.is_some());
        self.parents.extend(of_states.map(|it| (it.child, it.parent)));
        if batch.moved_children.iter().any(|(_, it)| it.position.is_some()) {
            self.count("calls that were joined");
        }
        let mut new = Vec::new();
        for write in &batch.writes {
            let (id, kind, ended) = (write.row.id, write.row.machine.clone(), write.row.ended);
            if write.expected.is_none() {
                new.push(self.machines.len());
                self.numbers.insert(id, self.machines.len());
                self.machines.push(Known { id, kind, ended, token: 0, holder: 0 });
            } else if let Some(number) = self.number(id) {
                self.machines[number].ended = ended;
                match (write.row.machine.as_str(), write.row.status.as_str()) {
                    ("trip", "done") => self.count("trips that joined their legs"),
                    ("leg", "cancelled") => self.count("legs that were cancelled"),
                    ("execution", "cancelled") => self.count("calls and questions withdrawn"),
                    _ => {}
                }
                self.begins(process, write);
                // A call is written under its permit.
                let has_permit = write.row.machine == "execution";
                if process.is_worker && !has_permit && !batch.is_by_holder(id) {
                    self.violations.push(format!("m{number} was moved without a lease"));
                }
            }
            let number = self.number(id).unwrap_or_default();
            self.trace(process, || {
                format!("m{number} is {} v{}", write.row.status, write.row.version)
            });
        }
        for ((id, event), outcome) in batch.events.iter().zip(outcomes) {
            self.happened(process, *id, event, *outcome);
        }
        new
    }

    /// A call of a state begins only if its process has read of the machine since its claim that no
    /// deadline has to fire.
    fn begins(&mut self, process: &Process, write: &Write) {
        let id = write.row.id;
        let begins = write.attempt.as_ref().is_some_and(|it| it.opens && it.hold == Hold::Held);
        let Some(parent) = self.parents.get(&id).copied().filter(|_| begins) else { return };
        let free = self.free.get(&(process.number, parent));
        let claimed = self.claimed.get(&(process.number, id));
        // Where the clock went back, what was due is not due any more.
        if claimed > free && !self.counts.contains_key(WENT_BACK) {
            let number = self.number(parent).unwrap_or_default();
            self.violations.push(format!("a call began before a due deadline of m{number}"));
        }
    }

    /// A machine would take this message, but no worker wakes for it before something else happens
    /// to the machine.
    pub(super) fn forgot(&mut self, id: Id, message: &str) {
        let number = self.number(id).unwrap_or_default();
        self.violations.push(format!("m{number} sleeps, and its state takes `{message}`"));
    }

    fn rejected(&mut self, process: &Process, batch: &WriteBatch, rejected: &Rejected) {
        let (name, what) = match rejected {
            // With a line of the operator log, a message that is there already writes nothing.
            Rejected::Refused { refusal: EventRefusal::Duplicate, .. } => {
                ("duplicates", "duplicate".to_owned())
            }
            Rejected::Refused { refusal, .. } => {
                let moves = batch.events.iter().any(|(_, it)| matches!(it, Event::Moved(_)));
                let name = if moves { "transitions refused" } else { "events refused" };
                (name, format!("{refusal:?}"))
            }
            Rejected::Commit(CommitError::Conflict { .. }) => ("conflicts", "conflict".to_owned()),
            _ => ("others refused", "other".to_owned()),
        };
        self.count(name);
        let first = batch.events.first().map(|(id, event)| (self.number(*id), event));
        let (number, event) = first.unzip();
        self.trace(process, || {
            let number = number.flatten().unwrap_or_default();
            format!("m{number} refused: {what} {}", event.map(named).unwrap_or_default())
        });
    }

    fn happened(&mut self, process: &Process, id: Id, event: &Event, outcome: EventOutcome) {
        let Some(number) = self.number(id) else { return };
        self.trace(process, || {
            let outcome = match outcome {
                EventOutcome::Claimed { .. } => "claimed".to_owned(),
                outcome => format!("{outcome:?}"),
            };
            format!("m{number} {} -> {outcome}", named(event))
        });
        match outcome {
            EventOutcome::Duplicate => self.count("duplicates"),
            EventOutcome::SetAside => self.count("set aside after crashes"),
            _ => {}
        }
        match event {
            Event::Moved(Moved { handled: Some(_), .. }) => self.count("messages handled"),
            Event::Moved(_) => self.count("other transitions"),
            Event::Claim(Claim { on: Attempted::Deadline, .. }) => self.count("deadlines"),
            Event::Switch(_) => self.count("turns"),
            Event::Fail(_) => self.count("failures"),
            Event::HandBack { .. } => self.count("states handed back"),
            _ => {}
        }
        if let Event::Claim(_) = event {
            self.steps += 1;
            self.claimed.insert((process.number, id), self.steps);
        }
        let machine = &mut self.machines[number];
        if let Event::Claim(Claim { token, .. }) = event {
            // Nothing of the previous holder is accepted.
            let is_other = machine.holder != process.number;
            machine.token = token + 1;
            machine.holder = process.number;
            if is_other {
                self.count("leases that moved");
            }
            return;
        }
        if let Some(token) = token_of(&mut event.clone()) {
            let (holder, newest) = (machine.holder, machine.token);
            if holder != process.number || newest != *token {
                let text = format!(
                    "p{} wrote m{number} with token {token}, and p{holder} has {newest}: {}",
                    process.number,
                    named(event)
                );
                self.violations.push(text);
            }
        }
    }
}

/// An event without ids and texts.
fn named(event: &Event) -> String {
    let on = |on: &Attempted| match on {
        Attempted::Message(correlation) => stable(correlation).to_owned(),
        on => format!("{on:?}"),
    };
    match event {
        Event::Send { message, .. } => format!("send {}", stable(&message.correlation)),
        Event::Claim(Claim { token, on: what, .. }) => format!("claim {token} on {}", on(what)),
        Event::Renew { token, .. } => format!("renew {token}"),
        Event::Moved(Moved { token, handled, .. }) => {
            let handled = handled.as_deref().map(stable).unwrap_or_default();
            format!("moved {token} {handled}")
        }
        Event::Switch(Switch { token, on: what, .. }) => format!("turn {token} to {}", on(what)),
        Event::Wait(Wait { token, revision, wake, .. }) => {
            format!("park {token} revision {revision} until {wake:?}")
        }
        Event::Fail(Fail { token, on: what, .. }) => format!("fail {token} on {}", on(what)),
        Event::Acknowledge { token, messages } => {
            format!("acknowledge {token} {} messages", messages.len())
        }
        Event::HandBack { token, .. } => format!("hand back {token}"),
        Event::Requeue { messages, .. } => format!("requeue {} messages", messages.len()),
        Event::ChildEnded { .. } => "a child has ended".to_owned(),
        Event::Drive { .. } | Event::Notify { .. } | Event::Left | Event::End => "other".to_owned(),
    }
}

/// Correlation ids that the library makes are random.
fn stable(correlation: &str) -> &str {
    if correlation.starts_with("letter-") { correlation } else { "a message of the library" }
}
