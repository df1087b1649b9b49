#![doc = include_str!("../docs/tracing.md")]

pub(crate) mod field;
mod signal;
mod signals;
#[cfg(test)]
mod tests;

use std::fmt;

pub(crate) use signals::*;

/// The name of the tool that an action calls. It is made only if it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolName<'a>(pub(crate) Option<(&'a str, &'a str)>);

impl fmt::Display for ToolName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((service, method)) => write!(f, "{service}.{method}"),
            None => Ok(()),
        }
    }
}

/// Records that the operation of a span has failed, with the class of the error.
pub(crate) fn failed(span: &tracing::Span, class: &'static str) {
    span.record(field::ERROR_TYPE, class);
    span.record(field::OTEL_STATUS, "ERROR");
}
