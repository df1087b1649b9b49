//! The states of a TCP connection (RFC 9293, figure 5).

use machine::{actor::Anyone, machine, typed::Reason};

use crate::source::Source;

/// The connection was opened actively: a reset does not lead back to LISTEN (note 1).
#[derive(Debug, PartialEq, Eq)]
struct OpenedActively;

impl std::fmt::Display for OpenedActively {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this end opened the connection, so a reset ends it")
    }
}

fn was_listening(state: &connection::SynReceived) -> Result<(), OpenedActively> {
    if state.passive { Ok(()) } else { Err(OpenedActively) }
}

/// One end of a connection.
#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Connection {
    /// There is none.
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

    #[on(rcv_rst => Listen, guard = was_listening -> OpenedActively)]
    #[on(rcv_ack_of_syn => Established)]
    #[on(close => FinWait1)]
    SynReceived { passive: bool },

    #[on(close => FinWait1)]
    #[on(rcv_fin => CloseWait)]
    Established,

    #[on(rcv_ack_of_fin => FinWait2)]
    #[on(rcv_fin => Closing)]
    FinWait1,

    #[on(rcv_fin => TimeWait)]
    FinWait2,

    #[on(close => LastAck)]
    CloseWait,

    #[on(rcv_ack_of_fin => TimeWait)]
    Closing,

    #[on(rcv_ack_of_fin => Closed)]
    LastAck,

    /// For twice the longest life of a segment.
    #[on(timeout => Closed)]
    TimeWait,
}

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
            ("syn_received", "rcv_ack_of_syn", "established"),
            ("syn_received", "close", "fin_wait1"),
            ("established", "close", "fin_wait1"),
            ("established", "rcv_fin", "close_wait"),
            ("fin_wait1", "rcv_ack_of_fin", "fin_wait2"),
            ("fin_wait1", "rcv_fin", "closing"),
            ("fin_wait2", "rcv_fin", "time_wait"),
            ("close_wait", "close", "last_ack"),
            ("closing", "rcv_ack_of_fin", "time_wait"),
            ("last_ack", "rcv_ack_of_fin", "closed"),
            ("time_wait", "timeout", "closed"),
        ],
    }
    .is_told_by(connection::DEFINITION);
}

#[test]
fn typed_both_ends_come_back_to_closed() {
    let opener = Connection::new().active_open().rcv_syn_ack();
    let opener = opener.close().rcv_ack_of_fin().rcv_fin().timeout();
    assert_eq!(opener.state(), &connection::Closed);

    let listener = Connection::new().passive_open().rcv_syn();
    let listener = listener.rcv_rst().unwrap().rcv_syn().rcv_ack_of_syn();
    let listener = listener.rcv_fin().close().rcv_ack_of_fin();
    assert_eq!(listener.state(), &connection::Closed);

    // Both open, then both close, at once.
    let both = Connection::new().active_open().rcv_syn();
    let refused = both.rcv_rst().unwrap_err();
    assert_eq!(refused.reason, OpenedActively);
    let closing = refused.machine.rcv_ack_of_syn().close().rcv_fin();
    assert_eq!(closing.rcv_ack_of_fin().timeout().state(), &connection::Closed);
}

#[test]
fn erased_segments_come_in_any_order() {
    use connection::{Event, Status};

    let mut any = AnyConnection::from(Connection::new());
    let segments = [Event::PassiveOpen, Event::RcvSyn, Event::RcvAckOfSyn, Event::RcvFin];
    for segment in segments {
        any.apply_mut(segment, &Anyone).unwrap();
    }
    let refused = any.apply_mut(Event::RcvFin, &Anyone).unwrap_err();
    assert_eq!(refused.reason(), &Reason::NotFromHere);
    assert_eq!(
        refused.to_string(),
        "CLOSE_WAIT cannot `rcv_fin`; from CLOSE_WAIT you can: close -> LAST_ACK"
    );
    any.apply_mut(Event::Close, &Anyone).unwrap();
    any.apply_mut(Event::RcvAckOfFin, &Anyone).unwrap();
    assert_eq!(any.status(), Status::Closed);

    any.apply_mut(Event::ActiveOpen, &Anyone).unwrap();
    any.apply_mut(Event::RcvSyn, &Anyone).unwrap();
    let refused = any.apply_mut(Event::RcvRst, &Anyone).unwrap_err();
    assert_eq!(refused.reason(), &Reason::Guard(OpenedActively.to_string()));
}
