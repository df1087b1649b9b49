//! The backend of a [`Store`](super::Store): plain data, one atomic batch, and reads. All policy is
//! above it; what must be atomic is data in the batch.

#[allow(clippy::module_inception)]
mod backend;
mod batch;
mod claim;
mod crew;
mod filter;
mod inbox;
mod record;
mod row;

#[cfg(test)]
pub(crate) use backend::Delegate;
pub use inbox::Child;
pub(crate) use {
    backend::{
        Backend, DefinitionRows, DoorbellFn, Identity, Operated, Reply, StoreSettings, answers,
    },
    batch::{AppliedBatch, Condition, OtherAttempts, Rejected, Write, WriteBatch},
    claim::{AttemptChange, Attempts, KeyClaim, SAMPLE, Wants},
    crew::{CrewChange, WorkerRow},
    filter::Filter,
    inbox::{CallLine, CallRow, Kinship, Messages, NewChild, ReadyMachine, Schedules, WorkRows},
    record::{Record, Records},
    row::{Broken, FoundRow, Row, Sequenced},
};
