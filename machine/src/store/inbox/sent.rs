//! Messages that were sent, as events.

use tracing::{field::display, level_filters::LevelFilter};

use crate::{
    id::Id,
    store::inbox::protocol::{Event, EventOutcome},
    telemetry::MessageSent,
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
pub(crate) fn sent_with(sent: &[(usize, Id)], outcomes: &[EventOutcome]) {
    for (position, to) in sent {
        emit(*to, outcomes.get(*position).copied().unwrap_or_default());
    }
}

/// The messages that the writes of a batch caused are on disk.
pub(crate) fn caused_with(sent: &[(Id, EventOutcome)]) {
    for (to, outcome) in sent {
        emit(*to, *outcome);
    }
}

fn emit(to: Id, outcome: EventOutcome) {
    let outcome = match outcome {
        EventOutcome::Duplicate => "duplicate",
        EventOutcome::Ended => "ended",
        _ => "queued",
    };
    MessageSent { id: display(to), outcome }.emit();
}
