use std::sync::Arc;

use super::Event;
use crate::{
    clock::Millis,
    id::Id,
    store::{
        backend::{Kinship, Write},
        inbox::message::Message,
    },
};

/// The machines to which an event applies, relative to the one that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    Itself,
    Parent,
    /// Those whose gate it is.
    Behind,
    /// Its children that have not ended.
    Children,
}

/// The events that the write of a machine causes, in this order. A backend finds the machines; an event that
/// [`step`](super::step) refuses changes nothing. `child`: the relation of a machine that has ended to its parent, with
/// what the batch changed of it. `by_holder`: the batch is written by the holder of the machine's lease.
///
/// A machine may be written again after it has ended. Its messages have the same correlation ids then, so that each is
/// sent once.
pub(crate) fn caused(
    write: &Write,
    child: Option<&Kinship>,
    by_holder: bool,
    now: Millis,
) -> Vec<(To, Event)> {
    let id: Id = write.row.id;
    if write.row.ended {
        let send = |message| Event::Send { message: Arc::new(message), now };
        let notify = Event::Notify { moved: false, now };
        let outcome = child.and_then(|kinship| Message::outcome(id, kinship));
        return vec![
            (To::Itself, Event::End),
            (To::Parent, outcome.map_or_else(|| notify.clone(), send)),
            (To::Behind, notify),
            (To::Children, send(Message::cancel(id))),
        ];
    }
    if write.expected.is_none() {
        return vec![(To::Itself, Event::Drive { now })];
    }
    if by_holder { Vec::new() } else { vec![(To::Itself, Event::Notify { moved: true, now })] }
}
