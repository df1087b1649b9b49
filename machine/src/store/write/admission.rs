//! The checks of a batch before anything of it is written: one set of rules, for what any backend
//! has stored.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    ops::RangeInclusive,
};

use crate::{
    id::Id,
    journal::Digest,
    store::{
        backend::{
            Broken, Child, Condition, Kinship, NewChild, OtherAttempts, Record, Rejected, Write,
            WriteBatch,
        },
        error::CommitError,
        inbox::protocol::{Effects, Event, InboxState},
        write::{
            attempt::{AttemptRow, KeyAttempt, refused},
            tool::ToolRecord,
        },
    },
    stored::{Hold, Requirement},
};

/// The stored data that a batch is checked against, in the transaction that writes it.
pub(crate) trait Lookup {
    type Error: From<Rejected> + From<CommitError>;

    type Place: Copy;

    fn version(&self, id: Id) -> Result<Option<u64>, Self::Error>;

    /// The state of a machine, and the digest of its newest line.
    fn state(&self, id: Id) -> Result<Option<(String, Option<Digest>)>, Self::Error>;

    fn has_ended(&self, id: Id) -> Result<Option<bool>, Self::Error>;

    /// The number of the entry with which a machine came into its state; `None` after it has ended.
    fn entered(&self, id: Id) -> Result<Option<u64>, Self::Error>;

    /// The relation of a machine to its parent, if this library made it a child.
    fn kinship(&self, child: Id) -> Result<Option<Kinship>, Self::Error>;

    /// The calls of this machine's invocations that have not ended, and machines whose outcome is
    /// in its inbox and was not taken.
    fn open_calls(&self, parent: Id) -> Result<Vec<Id>, Self::Error>;

    /// What a machine has of its key.
    fn hold(&self, id: Id) -> Result<Hold, Self::Error>;

    /// Returns whether a machine has taken the outcome of a call; `None` if that was not sent.
    fn has_taken(&self, parent: Id, call: Id) -> Result<Option<bool>, Self::Error>;

    /// Checks whether a gate of an execution with this key has an entry after this one.
    fn is_answered_after(&self, key: &str, after: u64) -> Result<bool, Self::Error>;

    /// The children that were added while a machine was in one of these versions.
    fn children_of(
        &self,
        parent: Id,
        visit: &RangeInclusive<u64>,
    ) -> Result<Vec<Child>, Self::Error>;

    /// One of these attempts that is not among the machines that are known, with its status.
    fn other_attempt(
        &self,
        attempts: &OtherAttempts,
        known: &[Id],
    ) -> Result<Option<(Id, String)>, Self::Error>;

    fn tool(&self, name: &str) -> Result<Option<ToolRecord>, Self::Error>;

    /// The version of a record; 0 if there is none.
    fn record(&self, kind: &str, id: Id) -> Result<u64, Self::Error>;

    /// The attempts at a key, oldest first.
    fn attempts(&self, key: &str) -> Result<Vec<Result<AttemptRow, Broken>>, Self::Error>;

    /// The inbox of a machine; its messages may be missing.
    fn inbox(&self, id: Id) -> Result<Option<(Self::Place, InboxState)>, Self::Error>;

    /// Adds the messages that an event names, if they are missing.
    fn add_messages(
        &self,
        place: Self::Place,
        event: &Event,
        inbox: &mut InboxState,
    ) -> Result<(), Self::Error>;
}

#[derive(Debug)]
pub(crate) struct Admitted<P> {
    pub(crate) writes: Vec<AdmittedWrite>,
    pub(crate) events: EventEffects<P>,
}

/// The effects of each event, and the place of its machine, unless the batch creates it.
pub(crate) type EventEffects<P> = Vec<(Option<P>, Effects)>;

/// The changes that come with the write of a machine.
#[derive(Debug)]
pub(crate) struct AdmittedWrite {
    /// The attempt that changes, as it is afterwards.
    pub(crate) attempt: Option<AttemptRow>,
    /// The record of its tool from now on, if that changes.
    pub(crate) tool: Option<ToolRecord>,
    pub(crate) leaves_children: bool,
}

impl WriteBatch {
    /// Checks whether an earlier try of this batch succeeded, by the version and the commit id of
    /// each of its machines. One row with its commit id proves that, because a batch is written as
    /// a whole. The other machines may have moved on since, but not back.
    pub(crate) fn was_written(&self, stored: impl Iterator<Item = (u64, i64)>) -> bool {
        let mut is_proved = false;
        for (write, (version, commit_id)) in self.writes.iter().zip(stored) {
            let after = write.expected.unwrap_or(0).saturating_add(write.lines.len() as u64);
            if version < after {
                return false;
            }
            is_proved |= commit_id == self.commit_id && version == after;
        }
        is_proved
    }

    /// Checks all preconditions; `versions` are those of the machines that it writes.
    pub(crate) fn admit<L: Lookup>(
        &self,
        stored: &L,
        versions: impl Iterator<Item = Option<u64>>,
    ) -> Result<Admitted<L::Place>, L::Error> {
        for condition in &self.conditions {
            self.check_condition(stored, condition)?;
        }
        let mut seen = HashSet::new();
        for (write, version) in self.writes.iter().zip(versions) {
            let id = write.row.id;
            match (write.expected, version) {
                (None, Some(_)) => return Err(CommitError::AlreadyStored { id }.into()),
                (Some(_), None) => return Err(CommitError::NotFound { id }.into()),
                // A second write of one machine would follow another version than the one that it
                // expects.
                (expected, version) if expected == version && seen.insert(id) => {}
                _ => return Err(CommitError::Conflict { id }.into()),
            }
        }
        let mut tools: HashMap<&str, Option<ToolRecord>> = HashMap::new();
        let mut writes = Vec::with_capacity(self.writes.len());
        for write in &self.writes {
            let mut tool = None;
            if let Some(used) = &write.tool {
                let known = match tools.get(&*used.name) {
                    Some(known) => *known,
                    None => stored.tool(&used.name)?,
                };
                let after = ToolRecord::after(known, used, write.row.id)?;
                tool = after.filter(|_| after != known);
                tools.insert(&used.name, after);
            }
            let leaves_children = match write.visit() {
                Some(visit) => !stored.children_of(write.row.id, &visit)?.is_empty(),
                None => false,
            };
            writes.push(AdmittedWrite { attempt: None, tool, leaves_children });
        }
        let mut keys = Keys { stored, read: HashMap::new() };
        for (write, admitted) in self.writes.iter().zip(&mut writes) {
            admitted.attempt = keys.check(write)?;
        }
        self.check_children(stored)?;
        self.check_records(stored)?;
        Ok(Admitted { writes, events: self.decide_events(stored)? })
    }

    /// Checks that new children have a parent that lives, and that those that move are children of
    /// theirs.
    fn check_children<L: Lookup>(&self, stored: &L) -> Result<(), L::Error> {
        for NewChild { parent, .. } in &self.children {
            match stored.has_ended(*parent)? {
                None if !self.creates(*parent) => {
                    return Err(CommitError::NotFound { id: *parent }.into());
                }
                Some(true) => return Err(Rejected::Ended(*parent).into()),
                Some(false) | None => {}
            }
        }
        for (child, Kinship { parent, position, .. }) in &self.moved_children {
            if stored.kinship(*child)?.is_none_or(|known| known.parent != *parent) {
                return Err(CommitError::NotChild { id: *child, parent: *parent }.into());
            }
            // Since it was decided that an entry takes the call over, its outcome was taken.
            if position.is_some() && stored.has_taken(*parent, *child)? == Some(true) {
                return Err(CommitError::Conflict { id: *child }.into());
            }
        }
        Ok(())
    }

    /// Checks that each record follows the stored version, and is written once.
    fn check_records<L: Lookup>(&self, stored: &L) -> Result<(), L::Error> {
        let mut seen = HashSet::new();
        for Record { kind, id, version, .. } in &self.records {
            let known = stored.record(kind, *id)?;
            if known.checked_add(1) != Some(*version) || !seen.insert((kind, id)) {
                return Err(CommitError::Conflict { id: *id }.into());
            }
        }
        Ok(())
    }

    fn check_condition<L: Lookup>(
        &self,
        stored: &L,
        condition: &Condition,
    ) -> Result<(), L::Error> {
        let moved = match condition {
            Condition::Required { by, requirement } => {
                let is_late = |at: &i64| self.time() >= *at;
                let machine = requirement.machine;
                if let Some(at) = requirement.not_after.filter(is_late) {
                    return Err(Rejected::Late { by: *by, machine, at }.into());
                }
                if self.meets(stored, requirement)? {
                    return Ok(());
                }
                return Err(CommitError::Unmet { id: *by, machine }.into());
            }
            Condition::NoNewAnswer { id, key, after } => {
                stored.is_answered_after(key, *after)?.then_some(*id)
            }
            Condition::Version { id, version } => {
                (stored.version(*id)? != Some(*version)).then_some(*id)
            }
            Condition::NoCallUnderWay { parent, since, except } => {
                return match self.call_under_way(stored, *parent, (*since, except))? {
                    Some(call) => Err(CommitError::UnderWay { id: *parent, call }.into()),
                    None => Ok(()),
                };
            }
            Condition::StateNotLeft { by: id, call, parent } => {
                let kinship = stored.kinship(*call)?.filter(|it| it.parent == *parent);
                let since = kinship.filter(|it| it.position.is_some()).map(|it| it.since);
                let entered = stored.entered(*parent)?.map(|entered| entered.saturating_add(1));
                if since.is_some() && since == entered {
                    return Ok(());
                }
                return Err(Rejected::StateLeft { id: *id, parent: *parent }.into());
            }
            Condition::OnlyAttempt { id, attempts } => {
                return match self.other_attempt(stored, *id, attempts)? {
                    Some((by, status)) if status == attempts.done => {
                        Err(CommitError::AlreadyDone { id: *id, by }.into())
                    }
                    Some((by, _)) => Err(CommitError::OtherAttempt { id: *id, by }.into()),
                    None => Ok(()),
                };
            }
        };
        moved.map_or(Ok(()), |id| Err(CommitError::Conflict { id }.into()))
    }

    /// One of these attempts after this batch, other than this machine.
    fn other_attempt<L: Lookup>(
        &self,
        stored: &L,
        id: Id,
        attempts: &OtherAttempts,
    ) -> Result<Option<(Id, String)>, L::Error> {
        let written: Vec<_> = self.writes.iter().map(|write| write.row.id).collect();
        let mut rows = self.writes.iter().map(|write| &write.row);
        match rows.find(|row| row.id != id && attempts.has(row)) {
            Some(row) => Ok(Some((row.id, row.status.clone()))),
            None => stored.other_attempt(attempts, &written),
        }
    }

    /// Checks whether the other machine is as it is required, after this batch.
    fn meets<L: Lookup>(&self, stored: &L, requirement: &Requirement) -> Result<bool, L::Error> {
        let Requirement { machine, state, digest, .. } = requirement;
        let found = match self.writes.iter().find(|write| write.row.id == *machine) {
            Some(write) => {
                let newest = write.lines.last().map(|line| line.digest);
                Some((write.row.status.clone(), newest))
            }
            None => stored.state(*machine)?,
        };
        Ok(found.is_some_and(|(status, newest)| *state == status && newest == Some(*digest)))
    }

    /// Decides all events, each after those before it.
    fn decide_events<L: Lookup>(&self, stored: &L) -> Result<EventEffects<L::Place>, L::Error> {
        let mut copies: HashMap<Id, (Option<L::Place>, InboxState)> = HashMap::new();
        let mut decided = Vec::with_capacity(self.events.len());
        for (id, event) in &self.events {
            let (place, inbox) = match copies.entry(*id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(match stored.inbox(*id)? {
                    Some((place, inbox)) => (Some(place), inbox),
                    None if self.creates(*id) => (None, InboxState::default()),
                    None => return Err(CommitError::NotFound { id: *id }.into()),
                }),
            };
            if let Some(place) = place {
                stored.add_messages(*place, event, inbox)?;
            }
            let effects = self.decide(inbox, *id, event)?;
            inbox.apply(&effects);
            decided.push((*place, effects));
        }
        Ok(decided)
    }
}

/// The attempts at the keys of a batch, as they are after its writes so far: two machines of one
/// batch must not both get a key.
struct Keys<'a, L> {
    stored: &'a L,
    read: HashMap<String, Vec<Result<AttemptRow, Broken>>>,
}

impl<L: Lookup> Keys<'_, L> {
    /// Checks the claim of a write, and notes what it does to its attempt. Returns the attempt that
    /// it changes.
    fn check(&mut self, write: &Write) -> Result<Option<AttemptRow>, L::Error> {
        let id = write.row.id;
        let not_trusted =
            |reason: &str| CommitError::BrokenAttempt { id, reason: reason.to_owned() };
        if let Some(claim) = &write.claim {
            let mut attempts: Vec<KeyAttempt> = Vec::new();
            for found in self.of(&claim.key)? {
                let found = found.as_ref().map_err(|broken| not_trusted(&broken.reason))?;
                attempts.push(found.attempt.clone());
            }
            if let Some(rejected) = refused(claim, &attempts, id) {
                return Err(rejected.into());
            }
        }
        let Some(change) = &write.attempt else { return Ok(None) };
        let attempts = self.of(&change.key)?;
        if change.opens {
            attempts.push(Ok(AttemptRow { no: 0, attempt: change.opened(id, 0) }));
            return Ok(None);
        }
        let newest = attempts.iter_mut().rfind(|stored| match stored {
            Ok(AttemptRow { attempt, .. }) => attempt.by == id && attempt.space == change.space,
            Err(broken) => broken.id.is_none_or(|by| by == id),
        });
        match newest {
            Some(Ok(stored)) => {
                change.change(&mut stored.attempt);
                Ok(Some(stored.clone()))
            }
            Some(Err(broken)) => Err(not_trusted(&broken.reason).into()),
            // Attempts are never deleted, so something else removed it.
            None => Err(not_trusted("there is no attempt at its key").into()),
        }
    }

    fn of(&mut self, key: &str) -> Result<&mut Vec<Result<AttemptRow, Broken>>, L::Error> {
        if !self.read.contains_key(key) {
            self.read.insert(key.to_owned(), self.stored.attempts(key)?);
        }
        Ok(self.read.entry(key.to_owned()).or_default())
    }
}
