//! Messages that were sent, as events.

use tracing::{field::display, level_filters::LevelFilter};

use super::MessageSent;
use crate::{
    id::Id,
    store::inbox::protocol::{Event, Outcome},
};

/// The messages among the events of a batch, with their positions. It costs nothing if they are not
/// read.
pub(crate) fn sent(events: &[(Id, Event)]) -> Vec<(usize, Id)> {
    if LevelFilter::current() < LevelFilter::DEBUG {
        return Vec::new();
    }
    let events = events.iter().enumerate();
    let messages = events.filter(|(_, (_, event))| matches!(event, Event::Send { .. }));
    messages.map(|(position, (to, _))| (position, *to)).collect()
}

/// They are on disk, with these outcomes of all events.
pub(crate) fn sent_with(sent: &[(usize, Id)], outcomes: &[Outcome]) {
    for (position, to) in sent {
        let outcome = match outcomes.get(*position) {
            Some(Outcome::Duplicate) => "duplicate",
            Some(Outcome::Ended) => "ended",
            _ => "queued",
        };
        MessageSent { id: display(*to), outcome }.emit();
    }
}
