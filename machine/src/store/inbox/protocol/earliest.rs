use crate::clock::Millis;

/// What a worker does next for a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It applies the message.
    Message,
    /// It fires the deadline.
    Deadline,
}

/// What can be done for a machine now, with the times since when. All are by the clock of the store.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pending {
    /// When a message was sent that the program can apply in the current state.
    pub(crate) sent_at: Option<Millis>,
    /// When the deadline was due, if it may be tried.
    pub(crate) due_at: Option<Millis>,
}

/// Chooses the earliest of them, however late the worker comes; `None` if there is nothing. What was sent at the moment of
/// the deadline was in time.
pub(crate) fn earliest(pending: Pending) -> Option<Turn> {
    let Pending { sent_at, due_at } = pending;
    // Of two with the same time, the first one here wins.
    let turns = [(sent_at, Turn::Message), (due_at, Turn::Deadline)];
    let turns = turns.into_iter().filter_map(|(at, turn)| Some((at?, turn)));
    turns.min_by_key(|(at, _)| *at).map(|(_, turn)| turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let table = [
            (None, None, None),
            (Some(1), None, Some(Turn::Message)),
            (None, Some(1), Some(Turn::Deadline)),
            (Some(1), Some(2), Some(Turn::Message)),
            (Some(2), Some(2), Some(Turn::Message)),
            (Some(3), Some(2), Some(Turn::Deadline)),
        ];
        for (sent_at, due_at, expected) in table {
            let pending = Pending { sent_at, due_at };
            assert_eq!(earliest(pending), expected, "{pending:?}");
        }
    }
}
