use std::sync::Arc;

use super::Event;
use crate::{
    clock::Millis,
    id::Id,
    store::{backend::Write, inbox::message::Message},
};

/// The machines to which an event happens, as seen from the one that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    Itself,
    /// Its parent, and those whose gate it is.
    Waiting,
    /// Its children that have not ended.
    Children,
}

/// The events that the write of a machine causes, in this order. A backend finds the machines; an event that
/// [`step`](super::step) refuses changes nothing. `by_holder`: the batch is written by the holder of the machine's
/// lease.
pub(crate) fn caused(write: &Write, by_holder: bool, now: Millis) -> Vec<(To, Event)> {
    let id: Id = write.row.id;
    if write.row.ended {
        let message = Arc::new(Message::cancel(id));
        return vec![
            (To::Itself, Event::End),
            (To::Waiting, Event::News { moved: false, now }),
            (To::Children, Event::Send { message, now }),
        ];
    }
    if write.expected.is_none() {
        return vec![(To::Itself, Event::Drive { now })];
    }
    if by_holder { Vec::new() } else { vec![(To::Itself, Event::News { moved: true, now })] }
}
