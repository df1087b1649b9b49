//! The names that most checks use.

pub(super) use std::sync::Arc;

pub(super) use super::{
    Kept, Open, ensure,
    event::{NOW, claim, events, fail, moved, outgoing, requeue, send},
    random::Random,
    same,
    sample::{Machine, SINCE, action, batch, with_commit_id},
    settings,
    subject::{Subject, owned, sound, started},
};
pub(super) use crate::{
    clock::{Clock, Millis},
    definition::Definition,
    id::Id,
    journal::{Digest, Line},
    store::{
        backend::{
            AppliedBatch, Attempts, Condition, Filter, FoundRow, Kinship, Messages, NewChild,
            ReadyMachine, Record, Records, Rejected, Reply, Row, Schedules, StoreSettings, Wants,
            Write, WriteBatch,
        },
        error::{CommitError, Unavailable},
        inbox::{
            message::{Delivery, Outgoing, Received},
            outcome::outcome_of,
            protocol::{
                Attempted, Cause, Event, EventOutcome, EventRefusal, MessageState, Moved, Schedule,
                Wait, Wake,
            },
        },
        upkeep::pruning::Candidate,
        write::attempt::KeyAttempt,
    },
    stored::Hold,
};
