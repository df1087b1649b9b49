//! The states of an HTTP/2 stream (RFC 9113, section 5.1, figure 2).

use machine::machine;

use crate::machines::source::Source;

/// The stream identifier.
type StreamId = u32;

/// A stream, as one of its two ends sees it.
#[machine(
    context = StreamId,
    on(send_rst_stream(code) => Closed, from = Resettable),
    on(recv_rst_stream(code) => Closed, from = Resettable)
)]
#[derive(Debug, Clone, PartialEq)]
enum Stream {
    /// Not used so far.
    #[initial]
    #[on(send_push_promise => ReservedLocal)]
    #[on(recv_push_promise => ReservedRemote)]
    #[on(send_headers => Open)]
    #[on(recv_headers => Open)]
    Idle,

    /// Promised by this end.
    #[group(Resettable)]
    #[on(send_headers => HalfClosedRemote)]
    ReservedLocal,

    /// Promised by the other end.
    #[group(Resettable)]
    #[on(recv_headers => HalfClosedLocal)]
    ReservedRemote,

    /// Both ends send.
    #[group(Resettable)]
    #[on(send_end_stream => HalfClosedLocal)]
    #[on(recv_end_stream => HalfClosedRemote)]
    Open,

    /// The other end sends.
    #[group(Resettable)]
    #[on(recv_end_stream(code = None) => Closed)]
    HalfClosedLocal,

    /// This end sends.
    #[group(Resettable)]
    #[on(send_end_stream(code = None) => Closed)]
    HalfClosedRemote,

    /// Neither end sends.
    #[terminal]
    Closed {
        /// The error code, if the stream was reset.
        code: Option<u32>,
    },
}

pub(crate) use stream::DEFINITION;

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &[
            "idle",
            "reserved_local",
            "reserved_remote",
            "open",
            "half_closed_local",
            "half_closed_remote",
            "closed",
        ],
        initial: "idle",
        terminal: &["closed"],
        stable: &[],
        rows: &[
            ("idle", "send_push_promise", "reserved_local"),
            ("idle", "recv_push_promise", "reserved_remote"),
            ("idle", "send_headers", "open"),
            ("idle", "recv_headers", "open"),
            ("reserved_local", "send_headers", "half_closed_remote"),
            ("reserved_local", "send_rst_stream", "closed"),
            ("reserved_local", "recv_rst_stream", "closed"),
            ("reserved_remote", "recv_headers", "half_closed_local"),
            ("reserved_remote", "send_rst_stream", "closed"),
            ("reserved_remote", "recv_rst_stream", "closed"),
            ("open", "recv_end_stream", "half_closed_remote"),
            ("open", "send_end_stream", "half_closed_local"),
            ("open", "send_rst_stream", "closed"),
            ("open", "recv_rst_stream", "closed"),
            ("half_closed_remote", "send_end_stream", "closed"),
            ("half_closed_remote", "send_rst_stream", "closed"),
            ("half_closed_remote", "recv_rst_stream", "closed"),
            ("half_closed_local", "recv_end_stream", "closed"),
            ("half_closed_local", "send_rst_stream", "closed"),
            ("half_closed_local", "recv_rst_stream", "closed"),
        ],
        deadlines: &[],
    }
    .matches(DEFINITION);
}

#[test]
fn typed_a_request_and_its_answer() {
    let client = Stream::new(1).send_headers().send_end_stream().recv_end_stream();
    assert_eq!((client.context(), client.state()), (&1, &stream::Closed { code: None }));
    let pushed = Stream::new(2).recv_push_promise().recv_headers().recv_end_stream();
    assert_eq!(pushed.state().code, None);
    let unwanted = Stream::new(4).recv_push_promise().send_rst_stream(Some(8));
    assert_eq!(unwanted.state().code, Some(8));
    assert_eq!(resettable(&Stream::new(5).send_headers()), 5);
}

/// The identifier of a stream that can be reset.
fn resettable<S: stream::Resettable>(stream: &Stream<S>) -> StreamId {
    *stream.context()
}
