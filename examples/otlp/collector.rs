//! A collector on loopback: it takes spans over OTLP with HTTP and protobuf, as any collector does.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, common::v1::any_value::Value, trace::v1::Span,
};
use prost::Message;

pub(crate) struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Collector {
    /// Listens on a free port.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (received, stopping) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<AtomicBool>::default());
        let (requests, is_stopping) = (Arc::clone(&received), Arc::clone(&stopping));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_stopping.load(Ordering::Acquire) {
                    return;
                }
                // The exporter has one connection at a time.
                serve(&stream.unwrap(), &requests);
            }
        });
        Self { address, received, stopping, thread }
    }

    /// For `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that has arrived. The exporter has ended.
    pub(crate) fn stop(self) -> Received {
        self.stopping.store(true, Ordering::Release);
        drop(TcpStream::connect(self.address).unwrap());
        self.thread.join().unwrap();
        Received(std::mem::take(&mut *self.received.lock().unwrap()))
    }
}

/// Takes requests until the connection ends.
fn serve(stream: &TcpStream, requests: &Mutex<Vec<ExportTraceServiceRequest>>) {
    let mut reader = BufReader::new(stream);
    while let Some((head, length)) = head(&mut reader) {
        assert!(head.starts_with("POST /v1/traces "), "{head}");
        assert!(head.to_lowercase().contains("content-type: application/x-protobuf"), "{head}");
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        requests.lock().unwrap().push(ExportTraceServiceRequest::decode(&*body).unwrap());
        let answer =
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
        (&*stream).write_all(answer.as_bytes()).unwrap();
    }
}

/// The head of a request, and the length of its body; `None` at the end of the connection.
fn head(reader: &mut impl BufRead) -> Option<(String, usize)> {
    let mut head = String::new();
    loop {
        let start = head.len();
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return None;
        }
        if head[start..].trim().is_empty() {
            break;
        }
    }
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length")).unwrap().1;
    let length = length.trim().parse().unwrap();
    Some((head, length))
}

/// The requests that a collector has received.
pub(crate) struct Received(Vec<ExportTraceServiceRequest>);

impl Received {
    pub(crate) fn spans(&self) -> impl Iterator<Item = &Span> {
        let resources = self.0.iter().flat_map(|request| &request.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| &scope.spans)
    }

    /// The only span with this name.
    pub(crate) fn span(&self, name: &str) -> &Span {
        let mut found = self.spans().filter(|span| span.name == name);
        let names = || self.spans().map(|span| &*span.name).collect::<Vec<_>>();
        let span = found.next().unwrap_or_else(|| panic!("no span {name} in {:?}", names()));
        assert!(found.next().is_none(), "{name} is there twice");
        span
    }

    /// The parent of a span, which has this name.
    pub(crate) fn span_of(&self, name: &str, child: &Span) -> &Span {
        let parent = self.spans().find(|span| span.span_id == child.parent_span_id).unwrap();
        assert_eq!(parent.name, name);
        parent
    }

    /// An attribute of a span, as text.
    #[allow(clippy::unused_self, reason = "it reads like the others")]
    pub(crate) fn attribute(&self, span: &Span, name: &str) -> Option<String> {
        let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
        Some(match found.value.as_ref()?.value.as_ref()? {
            Value::StringValue(text) => text.clone(),
            Value::BoolValue(value) => value.to_string(),
            Value::IntValue(value) => value.to_string(),
            other => format!("{other:?}"),
        })
    }

    /// The requests that have this text anywhere.
    pub(crate) fn containing(&self, text: &str) -> Vec<String> {
        let requests = self.0.iter().map(|request| format!("{request:?}"));
        requests.filter(|request| request.contains(text)).collect()
    }
}
