use super::Turn::{Deadline, Handler, Message};
use super::*;

/// When a message was sent, a child ended, and a deadline was due; what comes next, also while the
/// handler is failing.
type Case = ([Option<Millis>; 3], [Option<Turn>; 2]);

const TABLE: [Case; 19] = [
    ([None, None, None], [None, None]),
    // One of them.
    ([Some(1), None, None], [Some(Message), Some(Message)]),
    ([None, Some(1), None], [Some(Handler), None]),
    ([None, None, Some(1)], [Some(Deadline), Some(Deadline)]),
    // Two of them.
    ([Some(1), None, Some(2)], [Some(Message), Some(Message)]),
    ([Some(2), None, Some(2)], [Some(Message), Some(Message)]),
    ([Some(3), None, Some(2)], [Some(Deadline), Some(Deadline)]),
    ([None, Some(1), Some(2)], [Some(Handler), None]),
    ([None, Some(2), Some(2)], [Some(Handler), None]),
    ([None, Some(3), Some(2)], [Some(Deadline), Some(Deadline)]),
    ([Some(1), Some(2), None], [Some(Message), Some(Message)]),
    ([Some(2), Some(2), None], [Some(Message), Some(Message)]),
    ([Some(3), Some(2), None], [Some(Handler), Some(Message)]),
    // All three.
    ([Some(2), Some(2), Some(2)], [Some(Message), Some(Message)]),
    ([Some(1), Some(2), Some(3)], [Some(Message), Some(Message)]),
    ([Some(2), Some(1), Some(3)], [Some(Handler), Some(Message)]),
    ([Some(3), Some(1), Some(2)], [Some(Handler), None]),
    ([Some(2), Some(3), Some(1)], [Some(Deadline), Some(Deadline)]),
    ([Some(1), Some(3), Some(2)], [Some(Message), Some(Message)]),
];

#[test]
fn table() {
    for ([sent_at, ended_at, due_at], expected) in TABLE {
        for (is_failing, expected) in [false, true].into_iter().zip(expected) {
            let pending = Pending { sent_at, ended_at, is_failing, due_at };
            assert_eq!(earliest(pending), expected, "{pending:?}");
        }
    }
}
