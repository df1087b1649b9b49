//! A client of server-sent events, which can be cut at any byte.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
};

use serde_json::Value;

use machine_tests::STUCK;

/// An event, or the position alone when the stream says that it is alive.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// The output of a stream so far.
#[derive(Default)]
pub(crate) struct Parser {
    pub(crate) head: Option<String>,
    wire: Vec<u8>,
    text: Vec<u8>,
    /// The last chunk, which is empty, has come.
    is_whole: bool,
}

impl Parser {
    /// The events that end in these bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.wire.extend_from_slice(bytes);
        if self.head.is_none() {
            let Some(end) = find(&self.wire, b"\r\n\r\n") else { return Vec::new() };
            let head = self.wire.drain(..end + 4).collect();
            self.head = Some(String::from_utf8(head).unwrap());
        }
        // A chunk: its size in hexadecimal digits, and its bytes, each with a line break.
        while let Some(end) = find(&self.wire, b"\r\n") {
            let size = std::str::from_utf8(&self.wire[..end]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            self.is_whole = size == 0;
            if self.wire.len() < end + 2 + size + 2 {
                break;
            }
            self.text.extend_from_slice(&self.wire[end + 2..end + 2 + size]);
            self.wire.drain(..end + 2 + size + 2);
        }
        let mut events = Vec::new();
        while let Some(end) = find(&self.text, b"\n\n") {
            let block: Vec<u8> = self.text.drain(..end + 2).collect();
            events.push(Event::of(std::str::from_utf8(&block).unwrap()));
        }
        events
    }

    /// Returns whether the stream was accepted.
    pub(crate) fn is_open(&self) -> bool {
        self.head.as_ref().is_some_and(|head| head.starts_with("HTTP/1.1 200"))
    }
}

impl Event {
    fn of(block: &str) -> Self {
        let mut event = Self { id: String::new(), name: String::new(), data: Value::Null };
        for line in block.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => id.clone_into(&mut event.id),
                Some(("event", name)) => name.clone_into(&mut event.name),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ => assert!(line.is_empty() || line.starts_with(':'), "{line:?}"),
            }
        }
        event
    }

    /// It has only a position.
    pub(crate) fn is_alive(&self) -> bool {
        self.name.is_empty()
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// The request for a stream.
pub(crate) fn request(address: SocketAddr, query: &str, last: Option<&str>) -> String {
    let last = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
    format!("GET /api/events?{query} HTTP/1.1\r\nHost: {address}\r\n{last}\r\n")
}

/// An open stream.
pub(crate) struct Sse {
    stream: TcpStream,
    parser: Parser,
    read: std::collections::VecDeque<Event>,
    /// The bytes that may be read until the connection is cut.
    left: usize,
}

impl Sse {
    /// A stream that was accepted.
    pub(crate) fn open(address: SocketAddr, query: &str, last: Option<&str>) -> Self {
        Self::cut_after(usize::MAX, address, query, last)
    }

    /// A stream that is cut after a number of bytes.
    pub(crate) fn cut_after(
        left: usize,
        address: SocketAddr,
        query: &str,
        last: Option<&str>,
    ) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(STUCK)).unwrap();
        stream.write_all(request(address, query, last).as_bytes()).unwrap();
        Self { stream, parser: Parser::default(), read: [].into(), left }
    }

    /// The next event; `None` when the stream has ended, or is cut.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Some(event);
            }
            let mut bytes = [0; 4096];
            let most = bytes.len().min(self.left);
            if most == 0 {
                return None;
            }
            let size = match self.stream.read(&mut bytes[..most]) {
                // A server that stops does not wait for a request that has just come.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
                size => size.unwrap(),
            };
            if size == 0 {
                return None;
            }
            self.left -= size;
            self.read.extend(self.parser.push(&bytes[..size]));
            let head = self.parser.head.as_deref().unwrap_or_default();
            assert!(head.is_empty() || self.parser.is_open(), "{head}");
        }
    }

    /// Returns whether the server has ended the stream. Otherwise it was cut.
    pub(crate) fn is_whole(&self) -> bool {
        self.parser.is_whole
    }

    /// The next event that is about a machine.
    pub(crate) fn change(&mut self) -> Event {
        loop {
            let event = self.next().expect("the stream goes on");
            if !event.is_alive() {
                return event;
            }
        }
    }
}
