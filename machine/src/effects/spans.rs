//! The span of a call, and what happens in it.

use tracing::{Instrument, Span, field::display};

use crate::{
    contract::{
        Attempt, Call, Callable, Contract, Execution, InvalidContract, LateCall, Perform, Settled,
        ToolAnswer,
    },
    effects::{Recovered, error::EffectError, perform::PerformError},
    id::Id,
    telemetry::{AskService, CallTimedOut, ExecuteTool, ToolName, failed, field},
    typed::Refused,
};

pub(crate) fn call<S, P>(execution: &Execution<S>, resumed: bool, service: P) -> (Span, InSpan<P>) {
    let (id, contract) = (execution.id(), execution.context());
    let tool = ToolName(contract.action().tool_parts());
    let span = ExecuteTool {
        name: display(format_args!("execute_tool {tool}")),
        tool: display(tool),
        id: display(id),
        irreversible: contract.is_irreversible(),
        resumed,
    }
    .span();
    let service = InSpan(service, span.clone());
    (span, service)
}

pub(crate) fn ask_service<S>(execution: &Execution<S>) -> Span {
    let (id, tool) = (execution.id(), ToolName(execution.context().action().tool_parts()));
    AskService {
        name: display(format_args!("ask_service {tool}")),
        tool: display(tool),
        id: display(id),
    }
    .span()
}

/// Runs a call in its span, and records the outcome there.
pub(crate) async fn record_call<T: Callable>(
    span: Span,
    call: impl Future<Output = Result<Settled, PerformError<T>>>,
) -> Result<Settled, PerformError<T>> {
    let result = call.instrument(span.clone()).await;
    let (outcome, error) = match &result {
        Ok(settled) => outcome(settled),
        Err(PerformError::NotSettled { source: EffectError::Fenced { .. }, .. }) => {
            ("fenced", Some("fenced"))
        }
        Err(PerformError::NotSettled { source, .. }) => ("not_settled", Some(source.class())),
        Err(error) => ("not_begun", Some(error.reason().class())),
    };
    record(&span, outcome, error);
    let in_flight = |id: Id, call: LateCall| {
        span.in_scope(|| CallTimedOut { id: display(id) }.emit());
        LateCall(Box::pin(call.0.instrument(span.clone())))
    };
    result.map(|settled| match settled {
        Settled::TimedOut(doubt, call) => {
            let call = in_flight(doubt.id(), call);
            Settled::TimedOut(doubt, call)
        }
        Settled::Fenced(current, call) => {
            let call = in_flight(current.journal().id(), call);
            Settled::Fenced(current, call)
        }
        settled => settled,
    })
}

/// Runs a status query in its span, and records the outcome there.
pub(crate) async fn record_query<D>(
    span: Span,
    query: impl Future<Output = Result<Settled, Refused<D, EffectError>>>,
) -> Result<Settled, Refused<D, EffectError>> {
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

/// A service whose calls run in a span, also after their timeout, on any task.
pub(crate) struct InSpan<S>(S, Span);

impl<T: Callable, S: Perform<T>> Perform<T> for InSpan<S> {
    const CONFINED: bool = S::CONFINED;

    fn check_call(&self, contract: &Contract) -> Result<(), InvalidContract> {
        self.0.check_call(contract)
    }

    fn perform(&self, call: &Call<T>) -> impl Future<Output = ToolAnswer<T>> + Send {
        self.0.perform(call).instrument(self.1.clone())
    }

    fn find(&self, attempt: &Attempt<T>) -> impl Future<Output = ToolAnswer<T>> + Send {
        self.0.find(attempt).instrument(self.1.clone())
    }
}

pub(crate) fn recovered(span: &tracing::Span, found: &Recovered) {
    span.record(field::RECOVERED_IN_DOUBT, found.in_doubt.len());
    span.record(field::RECOVERED_SETTLED, found.settled.len());
    span.record(field::RECOVERED_INTERRUPTED, found.interrupted.len());
    span.record(field::RECOVERED_FAILED, found.failed.len());
}
