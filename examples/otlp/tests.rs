//! The spans of the example arrive at a collector: their names, parents and attributes, and nothing
//! personal.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]

mod collector;

use std::process::{Command, Stdio};

use collector::{Collector, Received};
use opentelemetry_proto::tonic::trace::v1::{span::SpanKind, status::StatusCode};

/// Planted in names, arguments, results, errors, sessions, and with them in keys.
const SECRET: &str = "s3cr3t";

/// Runs the example against a collector; returns what that has received.
fn run(cents: &str, level: &str) -> Received {
    let collector = Collector::start();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_otlp"));
    command
        .arg(folder.path().join(format!("{SECRET}.db")))
        .args([&format!("{SECRET}-17"), cents])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address())
        .env("WORKER", format!("{SECRET} worker"))
        .env("RUST_LOG", level)
        .env_remove("OTEL_RESOURCE_ATTRIBUTES");
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    collector.stop()
}

#[test]
fn a_call_has_the_names_and_parents_of_the_conventions() {
    let received = run("500", "info");
    let call = received.span("execute_tool bank.charge");
    for (name, value) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "bank.charge"),
        ("gen_ai.tool.type", "function"),
        ("machine.call.outcome", "completed"),
        ("machine.call.irreversible", "true"),
    ] {
        assert_eq!(received.attribute(call, name), Some(value.to_owned()), "{name}");
    }
    assert_eq!(call.kind(), SpanKind::Internal);
    assert!(call.status.as_ref().is_none_or(|status| status.code() != StatusCode::Error));

    // The drive of the execution is the parent, and the span of the tool a child.
    let process = received.span_of("process execution", call);
    assert_eq!(process.kind(), SpanKind::Consumer);
    assert_eq!(received.attribute(process, "messaging.operation.type").unwrap(), "process");
    assert!(process.parent_span_id.is_empty(), "each drive is a trace of its own");
    let request = received.span("POST /charges");
    assert_eq!(request.parent_span_id, call.span_id);
    assert_eq!(request.trace_id, process.trace_id);
    let id = received.attribute(call, "gen_ai.tool.call.id");
    assert_eq!(id, received.attribute(process, "machine.id"));

    let events: Vec<_> = call.events.iter().map(|event| event.name.as_str()).collect();
    assert!(events.contains(&"machine.call.answered"), "{events:?}");
    assert_eq!(events.iter().filter(|name| **name == "machine.transition").count(), 2);
    assert_eq!(received.span("place_order").events[0].name, "machine.created");
}

#[test]
fn a_refused_call_has_an_error_without_its_text() {
    let received = run("5000", "info");
    let call = received.span("execute_tool bank.charge");
    assert_eq!(received.attribute(call, "machine.call.outcome").unwrap(), "failed");
    assert_eq!(received.attribute(call, "error.type").unwrap(), "failed");
    let status = call.status.as_ref().unwrap();
    assert_eq!((status.code(), status.message.as_str()), (StatusCode::Error, ""));
}

#[test]
fn nothing_personal_arrives() {
    for cents in ["500", "5000"] {
        let received = run(cents, "machine=trace,otlp=trace");
        assert!(received.spans().any(|span| span.name == "machine.commit"));
        // In names, attributes, events, links, status and resource alike.
        let found = received.containing(SECRET);
        assert!(found.is_empty(), "{found:?}");
    }
}
