use std::{mem, sync::Arc};

use super::sample::CONTRACTS;
use crate::{
    store::{
        backend::{Batch, Crew, Wants, Write},
        inbox::protocol::{Event, MessageStatus},
        memory::{Data, Memory},
        operation::Logged,
        write::attempt::Attempt,
    },
    stored::Hold,
};

/// The defect of a [`Twin`](super::twin::Twin).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Defect {
    /// Answers first, and writes with the next batch.
    AcknowledgesEarly,
    /// Creates machines for actions that already took effect.
    AllowsRepetition,
    /// Lets an idempotent action use a key that was taken.
    AllowsUsedKey,
    ClosesNever,
    DropsSecondWrite,
    /// Machines that come after their kind was driven are not.
    DrivesOnce,
    ForgetsChain,
    ForgetsChildren,
    /// Forgets a tool that was irreversible in an earlier batch.
    ForgetsEffect,
    /// Forgets whether the keys of a tool are made from an identity.
    ForgetsIdentity,
    /// Ignores claims.
    ForgetsKey,
    /// Does not keep which of the lines that it prunes opened attempts.
    ForgetsOpened,
    /// Keeps nothing of what it prunes.
    ForgetsPruned,
    /// Forgets how often a message was tried, and why it waits.
    ForgetsTries,
    /// Forgets how often a handler sent messages to its own machine.
    ForgetsSelfSends,
    /// Deletes attempts that ended without an effect.
    FreesKeyOnDelete,
    /// Deletes the attempts of machines that it prunes.
    FreesKeyOnPrune,
    IgnoresCommitId,
    IgnoresCursor,
    IgnoresDueTime,
    /// Compares the effect of a tool with those of earlier batches only.
    IgnoresEffectsOfBatch,
    /// Moves a consumer on, wherever it is.
    IgnoresOffset,
    IgnoresSessionCursor,
    /// Treats all keys as keys of contracts.
    IgnoresSpace,
    IgnoresVersion,
    /// Keeps the effects of a batch that it refuses.
    KeepsEffectOfRefused,
    /// Keeps workers that have left.
    KeepsWorkers,
    /// Keeps only the newest attempt at a key.
    KeepsOneAttempt,
    /// All leases have the same token.
    KeepsToken,
    LosesContext,
    LosesSummary,
    /// Compares the names of tools without regard to case.
    MistakesTool,
    Reorders,
    ReusesToken,
    ReversesAgenda,
    /// An operation can end again, with another outcome.
    RewritesOutcome,
    RingsNever,
    RingsOnce,
    SkipsSequenceNumber,
    /// Whatever comes under a known correlation id is a duplicate.
    SuppressesMessages,
    /// Whatever comes under a known correlation id takes it.
    ReplacesMessages,
    WritesDefinitionsTwice,
    /// An event that is refused keeps nothing else of its batch from being written.
    WritesDespiteRefusal,
    /// Checks a write only after it has written the ones before it.
    WritesOneByOne,
}

impl Defect {
    /// Applies the defect to a batch.
    pub(super) fn spoil_batch(self, batch: &mut Batch, memory: &Memory) {
        if self == Self::DropsSecondWrite {
            batch.writes.truncate(1);
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
                        known.status = MessageStatus::SetAside;
                    }
                    _ => {}
                }
            });
        }
        if let (Self::KeepsWorkers, Some(Crew::Leave(workers))) = (self, &mut batch.crew) {
            workers.clear();
        }
        if let (Self::IgnoresOffset, Some(advance)) = (self, &mut batch.advance) {
            let consumers = memory.tamper(|data| data.consumers.get(&advance.consumer).copied());
            advance.expected = consumers.flatten();
        }
        if let (Self::RewritesOutcome, [Logged::Ended { number, .. }]) = (self, &batch.log[..]) {
            memory.tamper(|data| {
                let ended = data.operations.iter_mut().filter(|it| it.number == *number);
                ended.for_each(|operation| operation.outcome = None);
            });
        }
        for write in &mut batch.writes {
            self.spoil_write(write, memory);
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
                let version = |data: &mut Data| data.find(id).map(|stored| stored.row.version);
                write.expected = memory.tamper(version).flatten();
            }
            Self::LosesContext if write.expected.is_some() => {
                write.row.context = Some(Arc::from("null"));
            }
            _ => {}
        }
    }

    /// Applies the defect to the store after a batch; `before` is the number of its entries.
    pub(super) fn spoil_data(self, data: &mut Data, before: usize) {
        match self {
            Self::ForgetsEffect => data.tools.clear(),
            Self::ForgetsIdentity => {
                data.tools.values_mut().for_each(|tool| tool.identity = None);
            }
            _ => {}
        }
        match self {
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
                (Self::ForgetsSelfSends, Some(work)) => work.self_sends = 0,
                (Self::ForgetsTries, _) => {
                    for message in state.messages.values_mut() {
                        (message.attempts, message.fault) = (0, None);
                    }
                }
                _ => {}
            }
        }
        for attempts in data.attempts.values_mut() {
            self.spoil_attempts(attempts);
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

    fn spoil_attempts(self, attempts: &mut Vec<Attempt>) {
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
}
