use super::row::Found;
use crate::{
    clock::Millis,
    id::Id,
    store::inbox::{message::Queued, protocol::Work},
};

/// A machine that a worker should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agenda {
    pub(crate) id: Id,
    pub(crate) token: u64,
    pub(crate) news: u64,
    /// Since when, or from when on. Of a leased machine: when the lease ends.
    pub(crate) at: Millis,
    /// The lease holder.
    pub(crate) worker: Option<String>,
    /// The number of attempts that began and did not end.
    pub(crate) attempts: u32,
}

/// A machine, its work, and its queued messages.
pub(crate) type Task = (Found, Option<Work>, Vec<Queued>);

/// Which messages to read.
#[derive(Debug, Clone)]
pub(crate) enum Messages {
    /// All messages to a machine.
    To(Id),
    /// The one with this correlation id.
    One(Id, String),
    /// Messages that were set aside.
    SetAside,
    /// Messages that have been queued since this time; at most so many, oldest first.
    Queued(Millis, usize),
    All,
}

/// A child of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Child {
    /// The machine.
    pub id: Id,
    /// The definition's name, such as `execution`.
    pub machine: String,
    /// The state's name.
    pub status: String,
    /// It is in a terminal state.
    pub has_ended: bool,
}
