#![doc = include_str!("../docs/tracing.md")]

pub(crate) mod field;
mod name;
mod signal;
mod signals;
#[cfg(test)]
mod tests;

pub(crate) use name::{SpanName, ToolName};
pub(crate) use signals::*;

/// Records that the operation of a span has failed, with the class of the error.
pub(crate) fn failed(span: &tracing::Span, class: &'static str) {
    span.record(field::ERROR_TYPE, class);
    span.record(field::OTEL_STATUS, "ERROR");
}
