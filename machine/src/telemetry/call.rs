//! The span of a call, and what happens in it.

use std::fmt;

use tracing::{Instrument, Span, field::display};

use super::{AskService, CallTimedOut, ExecuteTool, failed, field};
use crate::{
    contract::{
        Action, Answer, Attempt, Call, Callable, Evidence, Execution, LateCall, Perform, Settled,
    },
    effects::perform::PerformError,
    id::Id,
    store::error::CommitError,
    typed::Refused,
};

/// The name of the tool that an action calls. It is made only if it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolName<'a>(&'a Action);

impl fmt::Display for ToolName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.tool_parts() {
            Some((service, method)) => write!(f, "{service}.{method}"),
            None => Ok(()),
        }
    }
}

/// The name of a span: what is done, and with what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpanName<'a>(&'static str, Part<'a>);

#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Tool(ToolName<'a>),
    #[cfg(feature = "worker")]
    Kind(&'static str),
}

impl SpanName<'_> {
    /// `process order`.
    #[cfg(feature = "worker")]
    pub(crate) fn process(kind: &'static str) -> Self {
        Self("process", Part::Kind(kind))
    }
}

impl fmt::Display for SpanName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.1 {
            Part::Tool(tool) => write!(f, "{} {tool}", self.0),
            #[cfg(feature = "worker")]
            Part::Kind(kind) => write!(f, "{} {kind}", self.0),
        }
    }
}

/// The span of a call, and the service in it.
pub(crate) fn call<S, P>(execution: &Execution<S>, resumed: bool, service: P) -> (Span, InSpan<P>) {
    let (id, contract) = (execution.id(), execution.context());
    let tool = ToolName(contract.action());
    let span = ExecuteTool {
        name: display(SpanName("execute_tool", Part::Tool(tool))),
        tool: display(tool),
        id: display(id),
        irreversible: contract.is_irreversible(),
        resumed,
    }
    .span();
    let service = InSpan(service, span.clone());
    (span, service)
}

/// The span of a status query.
pub(crate) fn ask_service<S>(execution: &Execution<S>) -> Span {
    let (id, tool) = (execution.id(), ToolName(execution.context().action()));
    let name = display(SpanName("ask_service", Part::Tool(tool)));
    AskService { name, tool: display(tool), id: display(id) }.span()
}

/// Runs a call in its span, and records the outcome there.
pub(crate) async fn performed<T: Callable>(
    span: Span,
    call: impl Future<Output = Result<Settled, PerformError<T>>>,
) -> Result<Settled, PerformError<T>> {
    let result = call.instrument(span.clone()).await;
    let (outcome, error) = match &result {
        Ok(settled) => outcome(settled),
        Err(PerformError::NotSettled { source: CommitError::Fenced { .. }, .. }) => {
            ("fenced", Some("fenced"))
        }
        Err(PerformError::NotSettled { source, .. }) => ("not_settled", Some(source.class())),
        Err(error) => ("not_begun", Some(error.reason().class())),
    };
    record(&span, outcome, error);
    let goes_on = |id: Id, call: LateCall| {
        span.in_scope(|| CallTimedOut { id: display(id) }.emit());
        LateCall(Box::pin(call.0.instrument(span.clone())))
    };
    result.map(|settled| match settled {
        Settled::TimedOut(doubt, call) => {
            let call = goes_on(doubt.execution().id(), call);
            Settled::TimedOut(doubt, call)
        }
        Settled::Fenced(current, call) => {
            let call = goes_on(current.journal().id(), call);
            Settled::Fenced(current, call)
        }
        settled => settled,
    })
}

/// Runs a status query in its span, and records the outcome there.
pub(crate) async fn asked<D>(
    span: Span,
    query: impl Future<Output = Result<Settled, Refused<D, CommitError>>>,
) -> Result<Settled, Refused<D, CommitError>> {
    let result = query.instrument(span.clone()).await;
    match &result {
        // An unknown outcome is an answer, too.
        Ok(settled) => record(&span, outcome(settled).0, None),
        Err(refused) => record(&span, "in_doubt", Some(refused.reason.class())),
    }
    result
}

fn record(span: &Span, outcome: &'static str, error: Option<&'static str>) {
    span.record(field::OUTCOME, outcome);
    if let Some(error) = error {
        failed(span, error);
    }
}

/// The outcome, and the class of what went wrong.
fn outcome(settled: &Settled) -> (&'static str, Option<&'static str>) {
    match settled {
        Settled::Completed(_) => ("completed", None),
        Settled::Failed(_) => ("failed", Some("failed")),
        Settled::Accepted(_) => ("accepted", None),
        Settled::InDoubt(_) => ("in_doubt", Some("in_doubt")),
        Settled::TimedOut(..) => ("timed_out", Some("timeout")),
        Settled::Fenced(..) => ("fenced", Some("fenced")),
    }
}

/// The class of evidence.
pub(crate) fn class_of(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Applied(_) => "applied",
        Evidence::NotApplied(_) => "not_applied",
        Evidence::Unknown(_) => "unknown",
    }
}

/// A service whose calls run in a span, also after their timeout, on any task.
pub(crate) struct InSpan<S>(S, Span);

impl<T: Callable, S: Perform<T>> Perform<T> for InSpan<S> {
    const CONFINED: bool = S::CONFINED;

    fn perform(&self, call: &Call<T>) -> impl Future<Output = Answer<T::Receipt>> + Send {
        self.0.perform(call).instrument(self.1.clone())
    }

    fn find(&self, attempt: &Attempt<T>) -> impl Future<Output = Answer<T::Receipt>> + Send {
        self.0.find(attempt).instrument(self.1.clone())
    }
}
