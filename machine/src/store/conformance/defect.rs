use std::{mem, sync::Arc};

use super::sample::CONTRACTS;
use crate::{
    store::{
        backend::{Condition, CrewChange, Record, Wants, Write, WriteBatch},
        inbox::{message::Delivery, protocol::Event},
        memory::{Memory, Tables},
    },
    stored::Hold,
};

/// Makes the defects, and the table of the promises that they break.
macro_rules! defects {
    ($($(#[doc = $doc:literal])* $defect:ident => $promise:ident,)*) => {
        /// The defect of a [`Twin`](super::twin::Twin).
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Defect {
            $($(#[doc = $doc])* $defect,)*
        }

        /// Each defect, and the promise whose check must find it. Other checks may find it too.
        pub(super) const TWINS: &[(Defect, &str)] =
            &[$((Defect::$defect, stringify!($promise)),)*];
    };
}

defects! {
    /// Answers first, and writes with the next batch.
    AcknowledgesEarly => all_or_nothing,
    /// Creates machines for actions that already took effect.
    AllowsRepetition => key_applied,
    /// Lets an idempotent action use a key that was taken.
    AllowsUsedKey => effect_kept,
    ClosesNever => closed,
    /// Takes every line for a transition.
    CountsEveryLine => order,
    DropsSecondWrite => all_or_nothing,
    /// Machines that come after their kind was driven are not.
    DrivesOnce => drives,
    ForgetsChain => chain,
    ForgetsChildren => children,
    /// Forgets a tool that was irreversible in an earlier batch.
    ForgetsEffect => effect_kept,
    /// Forgets whether the keys of a tool are made from an identity.
    ForgetsIdentity => identity_kept,
    /// Ignores claims.
    ForgetsKey => key_held,
    /// A call that ends only wakes its parent.
    ForgetsOutcomes => outcomes,
    /// Does not keep which of the lines that it prunes opened attempts.
    ForgetsOpened => prune,
    /// Keeps no remains of pruned machines.
    ForgetsPruned => prune,
    /// Forgets how often a message was tried, and why it waits.
    ForgetsTries => inbox,
    /// Forgets how many messages of a machine are queued.
    ForgetsQueued => inbox_limit,
    /// Writes machines, and not the records of their batch.
    ForgetsRecords => records,
    /// Forgets how often a handler sent messages to its own machine.
    ForgetsSelfSends => lease,
    /// Forgets that nothing can move a machine.
    ForgetsStuck => stuck,
    /// Forgets that a machine was taken over.
    ForgetsTakeover => lease,
    /// Deletes attempts that ended without an effect.
    FreesKeyOnDelete => attempts_stay,
    /// Deletes the attempts of machines that it prunes.
    FreesKeyOnPrune => prune,
    /// The number of the newest definition stays.
    HidesNewDefinitions => definitions,
    /// Writes a retry although there is another attempt.
    IgnoresAttempts => conditions,
    /// Leaves calls behind that are under way.
    IgnoresCalls => under_way,
    IgnoresCommitId => commit_id,
    IgnoresConditions => conditions,
    /// Finds machines whose evidence agrees with their end, too.
    IgnoresContradiction => queries,
    IgnoresCursor => queries,
    IgnoresDueTime => queries,
    /// Compares the effect of a tool with those of earlier batches only.
    IgnoresEffectsOfBatch => effect_kept,
    /// Finds the calls of all entries.
    IgnoresEntry => calls,
    /// A call that is an exception keeps its machine, too.
    IgnoresExceptions => under_way,
    /// Begins calls of a state that was left.
    IgnoresLeft => conditions,
    /// Writes a record on any version.
    IgnoresRecordVersion => records,
    IgnoresSessionCursor => sessions,
    /// Treats all keys as keys of contracts.
    IgnoresSpace => key_spaces,
    /// Finds machines by the end of an id that they do not have.
    IgnoresTail => queries,
    /// Leaves calls behind that have ended, whose outcome was not taken.
    IgnoresUntaken => under_way,
    IgnoresVersion => compare_and_set,
    /// A machine that leaves a visit leaves its children as they are.
    IgnoresVisits => visits,
    /// Keeps the effects of a batch that it refuses.
    KeepsEffectOfRefused => effect_kept,
    /// Keeps workers that have left.
    KeepsWorkers => crew,
    /// Keeps only the newest attempt at a key.
    KeepsOneAttempt => attempts_stay,
    /// A record stays in its list.
    KeepsList => records,
    /// A child keeps its entry and its place.
    KeepsPlace => moved_children,
    /// All leases have the same token.
    KeepsToken => lease,
    /// Logs an event that achieves nothing.
    LogsWithoutEffect => operations,
    LosesContext => summary,
    LosesSummary => summary,
    /// Compares the names of tools without regard to case.
    MistakesTool => effect_kept,
    /// Moves children after the writes have told their parents.
    MovesLate => outcomes,
    /// Moves children of other machines, too.
    MovesStrangers => moved_children,
    /// Prunes calls whose outcome their machine has not taken.
    PrunesUntaken => prune,
    Reorders => order,
    ReusesToken => attempts_stay,
    ReversesReady => ready,
    ReversesRecords => records,
    RingsNever => doorbell,
    RingsOnce => doorbell,
    /// A message has the time at which its batch was made.
    SendsEarly => sent_at,
    SkipsSequenceNumber => order,
    /// Whatever comes under a known correlation id is a duplicate.
    SuppressesMessages => correlation,
    /// Whatever comes under a known correlation id takes it.
    ReplacesMessages => correlation,
    /// Leaves it to the time of its wake whether a machine is due, also after the clock went back.
    TrustsTheClock => ready,
    WritesDefinitionsTwice => definitions,
    /// A refused event does not stop the rest of its batch.
    WritesDespiteRefusal => lease,
    /// Checks a write only after it has written the ones before it.
    WritesOneByOne => all_or_nothing,
}

impl Defect {
    /// Applies the defect to a batch.
    pub(super) fn spoil_batch(self, batch: &mut WriteBatch, memory: &Memory) {
        match self {
            Self::DropsSecondWrite => batch.writes.truncate(1),
            Self::ForgetsRecords if !batch.writes.is_empty() => batch.records.clear(),
            Self::IgnoresRecordVersion | Self::KeepsList => {
                memory.tamper(|data| self.spoil_records(&mut batch.records, &data.records));
            }
            Self::IgnoresConditions => batch.conditions.clear(),
            Self::SendsEarly => batch.clock = None,
            Self::IgnoresCalls | Self::IgnoresExceptions | Self::IgnoresUntaken => {
                self.spoil_exceptions(&mut batch.conditions, memory);
            }
            Self::KeepsPlace => {
                // Their preconditions are checked.
                memory.tamper(|data| {
                    for (child, moved) in &mut batch.moved_children {
                        if let Some(known) = data.works.parents.get(child) {
                            (moved.since, moved.position) = (known.since, known.position);
                        }
                    }
                });
            }
            Self::PrunesUntaken if !batch.prune.is_empty() => {
                memory.tamper(|data| {
                    let inboxes = data.works.states.values_mut();
                    let messages = inboxes.flat_map(|inbox| &mut inbox.messages);
                    for (_, message) in messages.filter(|(name, _)| name.contains(":outcome:")) {
                        message.status = Delivery::Handled;
                    }
                });
            }
            Self::MovesStrangers => {
                memory.tamper(|data| {
                    for (child, moved) in &mut batch.moved_children {
                        let known = data.works.parents.get(child);
                        moved.parent = known.map_or(moved.parent, |known| known.parent);
                    }
                });
            }
            Self::IgnoresAttempts => {
                batch.conditions.retain(|it| !matches!(it, Condition::OnlyAttempt { .. }));
            }
            Self::IgnoresLeft => {
                batch.conditions.retain(|it| !matches!(it, Condition::StateNotLeft { .. }));
            }
            _ => {}
        }
        for (id, event) in &batch.events {
            let Event::Send { message, .. } = event else { continue };
            memory.tamper(|data| {
                let state = data.works.states.get_mut(id);
                let known = state.and_then(|it| it.messages.get_mut(&message.correlation));
                match (self, known) {
                    (Self::SuppressesMessages, Some(known)) => {
                        known.sent = Some(Arc::clone(message));
                    }
                    (Self::ReplacesMessages, Some(known)) => {
                        known.status = Delivery::SetAside;
                    }
                    _ => {}
                }
            });
        }
        if let (Self::KeepsWorkers, Some(CrewChange::Remove(workers))) = (self, &mut batch.crew) {
            workers.clear();
        }
        for write in &mut batch.writes {
            self.spoil_write(write, memory);
        }
    }

    fn spoil_records(self, new: &mut [Record], stored: &[Record]) {
        for record in new {
            let is_same = |it: &&Record| it.kind == record.kind && it.id == record.id;
            let Some(known) = stored.iter().find(is_same) else { continue };
            if self == Self::KeepsList {
                record.list.clone_from(&known.list);
            } else {
                record.version = known.version + 1;
            }
        }
    }

    fn spoil_exceptions(self, conditions: &mut [Condition], memory: &Memory) {
        for condition in conditions {
            let Condition::NoCallUnderWay { except, .. } = condition else { continue };
            memory.tamper(|data| {
                let all = data.machines.iter().map(|it| &it.row);
                match self {
                    Self::IgnoresExceptions => except.clear(),
                    Self::IgnoresUntaken => {
                        except.extend(all.filter(|it| it.ended).map(|it| it.id));
                    }
                    _ => except.extend(all.map(|it| it.id)),
                }
            });
        }
    }

    fn spoil_write(self, write: &mut Write, memory: &Memory) {
        let id = write.row.id;
        match self {
            Self::AllowsRepetition => drop(write.claim.take_if(|it| it.wants == Wants::NotApplied)),
            Self::AllowsUsedKey => drop(write.claim.take_if(|it| it.wants == Wants::NeverUsed)),
            Self::IgnoresEffectsOfBatch => {
                let is_known = |name: &str| memory.tamper(|data| data.tools.contains_key(name));
                drop(write.tool.take_if(|it| !it.irreversible && is_known(&it.name) != Some(true)));
            }
            Self::KeepsEffectOfRefused => {
                if let Some(tool) = write.tool.as_ref().filter(|it| it.irreversible) {
                    memory.tamper(|data| data.tools.entry(tool.name.clone()).or_default().identity);
                }
            }
            Self::MistakesTool => {
                if let Some(tool) = &mut write.tool {
                    tool.name.make_ascii_lowercase();
                }
            }
            Self::ForgetsKey => write.claim = None,
            Self::IgnoresSpace => {
                let claim = write.claim.as_mut().map(|it| &mut it.space);
                let attempt = write.attempt.as_mut().map(|it| &mut it.space);
                for space in claim.into_iter().chain(attempt) {
                    CONTRACTS.clone_into(space);
                }
            }
            Self::IgnoresVersion => {
                let version = |data: &mut Tables| data.find(id).map(|stored| stored.row.version);
                write.expected = memory.tamper(version).flatten();
            }
            Self::IgnoresVisits => write.left = None,
            Self::LosesContext if write.expected.is_some() => {
                write.row.context = Some(Arc::from("null"));
            }
            _ => {}
        }
    }

    /// Applies the defect to the store after a batch; `before` is the number of its entries.
    pub(super) fn spoil_data(self, data: &mut Tables, before: usize) {
        match self {
            Self::ForgetsEffect => data.tools.clear(),
            Self::ForgetsIdentity => {
                data.tools.values_mut().for_each(|tool| tool.identity = None);
            }
            Self::ForgetsOutcomes => {
                data.works.messages.retain(|it| !it.is_outcome());
                for inbox in data.works.states.values_mut() {
                    inbox.messages.retain(|correlation, _| !correlation.contains(":outcome:"));
                }
            }
            Self::DrivesOnce => data.works.driven.clear(),
            Self::ForgetsChildren => data.works.parents.clear(),
            Self::ForgetsOpened => {
                data.pruned.values_mut().for_each(|line| line.opened = false);
            }
            Self::ForgetsPruned => data.pruned.clear(),
            Self::FreesKeyOnPrune => {
                let stored: Vec<_> = data.machines.iter().map(|it| it.row.id).collect();
                for attempts in data.attempts.values_mut() {
                    attempts.retain(|attempt| stored.contains(&attempt.by));
                }
            }
            _ => {}
        }
        for state in data.works.states.values_mut() {
            match (self, &mut state.work) {
                (Self::KeepsToken, Some(work)) => work.token = 1,
                (Self::ForgetsQueued, Some(work)) => work.queued = 0,
                (Self::ForgetsSelfSends, Some(work)) => work.self_sends = 0,
                (Self::ForgetsStuck, Some(work)) => work.stuck_at = None,
                (Self::ForgetsTakeover, Some(work)) => work.taken_over = false,
                (Self::ForgetsTries, _) => {
                    for message in state.messages.values_mut() {
                        (message.attempts, message.fault) = (0, None);
                    }
                }
                _ => {}
            }
        }
        for attempts in data.attempts.values_mut() {
            match self {
                Self::FreesKeyOnDelete => attempts.retain(|attempt| attempt.hold != Hold::Free),
                Self::KeepsOneAttempt => drop(attempts.drain(..attempts.len().saturating_sub(1))),
                Self::ReusesToken => {
                    let first = attempts.first().map_or(0, |attempt| attempt.token);
                    for attempt in attempts {
                        attempt.token = first;
                    }
                }
                _ => {}
            }
        }
        for stored in &mut data.machines {
            match self {
                Self::IgnoresCommitId => stored.row.commit_id = 0,
                Self::LosesSummary => stored.row.summary = String::from("{}"),
                _ => {}
            }
        }
        // Pruning removes some.
        let entries = data.entries.len();
        match (self, &mut data.entries[before.min(entries)..]) {
            (Self::ForgetsChain, [.., last]) => last.chain = None,
            (Self::SkipsSequenceNumber, [.., last]) => last.seq += 1,
            (Self::Reorders, [.., first, second]) => {
                mem::swap(&mut first.id, &mut second.id);
                mem::swap(&mut first.line, &mut second.line);
            }
            _ => {}
        }
    }
}
