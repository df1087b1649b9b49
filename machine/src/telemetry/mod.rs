#![doc = include_str!("../docs/tracing.md")]

mod call;
mod class;
mod committed;
mod field;
mod message;
mod signal;
mod signals;
#[cfg(test)]
mod tests;

pub use field::{FIELDS, Field};
pub use signal::Signal;
pub use signals::SIGNALS;

#[cfg(feature = "worker")]
pub(crate) use call::SpanName;
pub(crate) use call::{ask_service, asked, call, class_of as evidence_class, performed};
pub(crate) use class::class_of;
pub(crate) use committed::committed;
pub(crate) use message::{sent, sent_with};
pub(crate) use signals::*;

/// Records that what a span covers has failed, with the class of the error.
pub(crate) fn failed(span: &tracing::Span, class: &'static str) {
    span.record(field::ERROR_TYPE, class);
    span.record(field::OTEL_STATUS, "ERROR");
}

/// Records what `Store::recover` found.
pub(crate) fn recovered(span: &tracing::Span, found: &crate::effects::Recovered) {
    span.record(field::RECOVERED_IN_DOUBT, found.in_doubt.len());
    span.record(field::RECOVERED_SETTLED, found.settled.len());
    span.record(field::RECOVERED_INTERRUPTED, found.interrupted.len());
    span.record(field::RECOVERED_FAILED, found.failed.len());
}
