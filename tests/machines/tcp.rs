//! The states of a TCP connection (RFC 9293, figure 5 with its notes 1 and 2).

use std::time::Duration;

use machine::{
    actor::{Actor, Category},
    machine,
};

use crate::machines::source::Source;

/// The network stack, which keeps the timers.
struct Stack;

impl Actor for Stack {
    const KIND: &'static str = "stack";
    const CATEGORY: Category = Category::System;
}

/// The maximum segment lifetime (section 3.4.2).
const MSL: Duration = Duration::from_mins(2);

/// One end of a connection.
#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Connection {
    /// There is no connection.
    #[initial]
    #[stable]
    #[on(passive_open => Listen)]
    #[on(active_open => SynSent)]
    Closed,

    #[stable]
    #[on(rcv_syn(passive = true) => SynReceived)]
    #[on(send => SynSent)]
    #[on(close => Closed)]
    Listen,

    #[on(rcv_syn(passive = false) => SynReceived)]
    #[on(rcv_syn_ack => Established)]
    #[on(close => Closed)]
    SynSent,

    #[on(rcv_rst => if passive { Listen } else { Closed })]
    #[on(rcv_ack_of_syn => Established)]
    #[on(close => FinWait1)]
    SynReceived {
        /// The connection was opened passively, so a reset leads back to LISTEN (note 1).
        passive: bool,
    },

    #[on(close => FinWait1)]
    #[on(rcv_fin => CloseWait)]
    Established,

    #[on(rcv_ack_of_fin => FinWait2)]
    #[on(rcv_fin => Closing)]
    #[on(rcv_fin_and_ack_of_fin => TimeWait)]
    FinWait1,

    #[on(rcv_fin => TimeWait)]
    FinWait2,

    #[on(close => LastAck)]
    CloseWait,

    #[on(rcv_ack_of_fin => TimeWait)]
    Closing,

    #[on(rcv_ack_of_fin => Closed)]
    LastAck,

    /// Waits until all segments of this connection have left the network.
    #[on(timeout => Closed, by = Stack, after = 2 * MSL)]
    TimeWait,
}

pub(crate) use connection::DEFINITION;

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &[
            "closed",
            "listen",
            "syn_sent",
            "syn_received",
            "established",
            "fin_wait1",
            "fin_wait2",
            "close_wait",
            "closing",
            "last_ack",
            "time_wait",
        ],
        initial: "closed",
        terminal: &[],
        stable: &["closed", "listen"],
        rows: &[
            ("closed", "passive_open", "listen"),
            ("closed", "active_open", "syn_sent"),
            ("listen", "rcv_syn", "syn_received"),
            ("listen", "send", "syn_sent"),
            ("listen", "close", "closed"),
            ("syn_sent", "rcv_syn", "syn_received"),
            ("syn_sent", "rcv_syn_ack", "established"),
            ("syn_sent", "close", "closed"),
            ("syn_received", "rcv_rst", "listen"),
            ("syn_received", "rcv_rst", "closed"),
            ("syn_received", "rcv_ack_of_syn", "established"),
            ("syn_received", "close", "fin_wait1"),
            ("established", "close", "fin_wait1"),
            ("established", "rcv_fin", "close_wait"),
            ("fin_wait1", "rcv_ack_of_fin", "fin_wait2"),
            ("fin_wait1", "rcv_fin", "closing"),
            ("fin_wait1", "rcv_fin_and_ack_of_fin", "time_wait"),
            ("fin_wait2", "rcv_fin", "time_wait"),
            ("close_wait", "close", "last_ack"),
            ("closing", "rcv_ack_of_fin", "time_wait"),
            ("last_ack", "rcv_ack_of_fin", "closed"),
            ("time_wait", "timeout", "closed"),
        ],
        deadlines: &[("time_wait", "timeout", "2 * MSL")],
    }
    .matches(DEFINITION);
}

#[test]
fn typed_both_ends_come_back_to_closed() {
    let opener = Connection::new().active_open().rcv_syn_ack();
    let opener = opener.close().rcv_ack_of_fin().rcv_fin();
    let deadlines: Vec<_> = opener.deadlines().collect();
    assert_eq!((deadlines.len(), deadlines[0].trigger), (1, "timeout"));
    assert_eq!(deadlines[0].after, Duration::from_mins(4));
    let opener = opener.timeout(&Stack);
    assert_eq!(opener.state(), &connection::Closed);

    let listener = Connection::new().passive_open().rcv_syn().rcv_ack_of_syn();
    let listener = listener.rcv_fin().close().rcv_ack_of_fin();
    assert_eq!(listener.state(), &connection::Closed);

    // Both open, then both close, at once.
    let both = Connection::new().active_open().rcv_syn();
    let closing = both.rcv_ack_of_syn().close().rcv_fin();
    assert_eq!(closing.rcv_ack_of_fin().timeout(&Stack).state(), &connection::Closed);

    let closing = Connection::new().active_open().rcv_syn_ack().close();
    let closing = closing.rcv_fin_and_ack_of_fin();
    assert_eq!(closing.timeout(&Stack).state(), &connection::Closed);
}

/// Note 1: a reset leads back to LISTEN if the connection was opened passively.
#[test]
fn typed_a_reset_depends_on_how_the_connection_was_opened() {
    use connection::AfterRcvRst;

    let passive = Connection::new().passive_open().rcv_syn();
    assert!(matches!(passive.rcv_rst(), AfterRcvRst::Listen(_)));
    let active = Connection::new().active_open().rcv_syn();
    assert!(matches!(active.rcv_rst(), AfterRcvRst::Closed(_)));
}
