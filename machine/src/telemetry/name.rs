//! Names of spans, made only if they are read.

use std::fmt;

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

/// The name of a span: the operation and its object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpanName<'a>(&'static str, SpanObject<'a>);

#[derive(Debug, Clone, Copy)]
enum SpanObject<'a> {
    Tool(ToolName<'a>),
    #[cfg(feature = "worker")]
    Kind(&'static str),
}

impl<'a> SpanName<'a> {
    /// Such as `execute_tool mail.send`.
    pub(crate) fn of_tool(verb: &'static str, tool: ToolName<'a>) -> Self {
        Self(verb, SpanObject::Tool(tool))
    }

    /// `process order`.
    #[cfg(feature = "worker")]
    pub(crate) fn process(kind: &'static str) -> Self {
        Self("process", SpanObject::Kind(kind))
    }
}

impl fmt::Display for SpanName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.1 {
            SpanObject::Tool(tool) => write!(f, "{} {tool}", self.0),
            #[cfg(feature = "worker")]
            SpanObject::Kind(kind) => write!(f, "{} {kind}", self.0),
        }
    }
}
