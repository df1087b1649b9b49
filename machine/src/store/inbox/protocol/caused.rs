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
    /// Its child machines that have not ended, apart from calls, of these versions.
    Machines {
        since: u64,
        until: u64,
    },
}

/// The events that the write of a machine causes, in this order. A backend finds the machines; an
/// event that [`step`](super::step) refuses changes nothing. `child`: the relation of a machine
/// that has ended to its parent, with what the batch changed of it. `by_holder`: the batch is
/// written by the holder of the machine's lease. `leaves_children`: the write leaves a visit with
/// children. `parent_leaves`: the batch also moves the parent out of its state, or lets go of the
/// call that ends. `is_of_visit`: the child was added in the visit in which the parent is after the
/// batch.
///
/// A machine may be written again after it has ended. Its messages have the same correlation ids
/// then, so that each is sent once.
pub(crate) fn caused(
    write: &Write,
    child: Option<&Kinship>,
    (by_holder, leaves_children): (bool, bool),
    (parent_leaves, is_of_visit): (bool, bool),
    now: Millis,
) -> Vec<(To, Event)> {
    let id: Id = write.row.id;
    let send = |message| Event::Send { message: Arc::new(message), now };
    if write.row.ended {
        let since = write.left.unwrap_or_default();
        let notify = Event::Notify { moved: false, now };
        let outcome = child.and_then(|kinship| Message::outcome(id, kinship));
        // The handler of the next state does not wait for what the move has ended, nor for what
        // ends after it.
        let ended = if is_of_visit { Event::ChildEnded { now } } else { notify.clone() };
        let ended = (!parent_leaves).then_some(ended);
        let told = outcome.map(send).or(ended);
        let told = told.map(|event| (To::Parent, event));
        let others = [
            (To::Behind, notify),
            (To::Machines { since, until: u64::MAX }, send(Message::cancel(id, "has ended"))),
        ];
        return [(To::Itself, Event::End)].into_iter().chain(told).chain(others).collect();
    }
    if write.expected.is_none() {
        return vec![(To::Itself, Event::Drive { now })];
    }
    let mut events = Vec::new();
    if !by_holder {
        events.push((To::Itself, Event::Notify { moved: true, now }));
    }
    if write.left.is_some() {
        events.push((To::Itself, Event::Left));
    }
    if let Some(visit) = write.visit().filter(|_| leaves_children) {
        let (since, until) = visit.into_inner();
        let moved = format!("has moved to `{}`", write.row.status);
        events.push((To::Machines { since, until }, send(Message::cancel(id, &moved))));
    }
    events
}
