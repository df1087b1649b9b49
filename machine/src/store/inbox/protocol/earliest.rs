use crate::clock::Millis;

/// What a worker does next for a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Message,
    Handler,
    Deadline,
}

/// What can be done for a machine now, with the times since when. All are by the clock of the
/// store.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pending {
    /// When a message was sent that the program can apply in the current state.
    pub(crate) sent_at: Option<Millis>,
    /// When the first child ended since the handler last returned, unless the handler was set
    /// aside.
    pub(crate) ended_at: Option<Millis>,
    /// The handler has failed, and is tried again later.
    pub(crate) is_failing: bool,
    /// When the deadline was due, if it may be tried.
    pub(crate) due_at: Option<Millis>,
}

/// Chooses the earliest of them, however late the worker comes; `None` if there is nothing to do.
/// What came at the moment of the deadline was in time. A handler that is failing holds the
/// deadline, and lets messages pass that were in time.
pub(crate) fn earliest(pending: Pending) -> Option<Turn> {
    let Pending { sent_at, ended_at, is_failing, due_at } = pending;
    // Of two with the same time, the first one here wins.
    let turns = [(sent_at, Turn::Message), (ended_at, Turn::Handler), (due_at, Turn::Deadline)];
    let turns = turns.into_iter().filter_map(|(at, turn)| Some((at?, turn)));
    match turns.min_by_key(|(at, _)| *at)?.1 {
        Turn::Handler if is_failing => {
            let is_in_time = |sent_at: &Millis| due_at.is_none_or(|due_at| *sent_at <= due_at);
            sent_at.filter(is_in_time).map(|_| Turn::Message)
        }
        turn => Some(turn),
    }
}

#[cfg(test)]
mod tests;
