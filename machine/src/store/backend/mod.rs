//! The backend of a [`Store`](super::Store): plain data, one atomic batch, and reads. All policy is
//! above it; what must be atomic is data in the batch.

#[allow(clippy::module_inception)]
mod backend;
mod batch;
mod claim;
mod crew;
mod filter;
mod inbox;
mod row;

pub use inbox::Child;
pub(crate) use {
    backend::{Answer, Backend, Definitions, Doorbell, Identity, Operated, Settings},
    batch::{Applied, Batch, Condition, Rejected, Write},
    claim::{AttemptChange, Attempts, Claim, SAMPLE, Wants},
    crew::{Crew, Registered},
    filter::Filter,
    inbox::{Agenda, Messages, Task},
    row::{Broken, Found, Row, Sequenced},
};
