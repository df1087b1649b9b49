use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::json::Json;
use super::{
    caller::Caller,
    extract::{Named, OfMachine, Query, name},
    problem::Problem,
    state::Shared,
};
use crate::audience::{Audience, for_audience};
use machine::{
    contract::execution,
    store::LoadError,
    stored::VerifyError,
    view::{ExecutionSnapshot, ExecutionTimeline, Internal, Topology},
};

/// The audience.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct For {
    /// By default people.
    #[param(inline)]
    audience: Option<Audience>,
}

/// The executions of a session, also of one that has ended, with their transitions.
#[utoipa::path(
    operation_id = "execution_timeline",
    get, path = "/api/execution/{session_id}/timeline", tag = "executions",
    params(("session_id" = String, Path), For),
    responses(
        (status = 200, description = "The executions of the session.", body = ExecutionTimeline<Internal>),
        (status = 404, description = "No machine has this session.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn timeline(
    State(http): State<Shared>,
    caller: Caller,
    Named(session): Named,
    Query(shown): Query<For>,
) -> Result<Response, Problem> {
    let audience = caller.may_see(shown.audience)?;
    let session = name(&session)?;
    for_audience!(audience, A => {
        let timeline = http.observer.session::<A>(session).await?;
        if timeline.total_contracts == 0 && timeline.unreadable == 0 {
            return Err(Problem::not_found("no execution has this session; see api/sessions"));
        }
        Ok(Json(timeline).into_response())
    })
}

/// An execution.
#[utoipa::path(
    operation_id = "execution_snapshot",
    get, path = "/api/execution/{execution_id}/snapshot", tag = "executions",
    params(("execution_id" = machine::Id, Path), For),
    responses(
        (status = 200, description = "The execution.", body = ExecutionSnapshot<Internal>),
        (status = 404, description = "No execution has this id.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn snapshot(
    State(http): State<Shared>,
    caller: Caller,
    OfMachine(id): OfMachine,
    Query(shown): Query<For>,
) -> Result<Response, Problem> {
    let audience = caller.may_see(shown.audience)?;
    let not_execution = |error| match error {
        LoadError::Unreadable(VerifyError::OtherMachine { .. }) => {
            Problem::not_found("this is not an execution; see api/machines/{id}")
        }
        error => error.into(),
    };
    for_audience!(audience, A => {
        let snapshot = http.observer.execution::<A>(id).await.map_err(not_execution)?;
        Ok(Json(snapshot).into_response())
    })
}

/// The states and moves of executions.
#[utoipa::path(
    operation_id = "execution_topology",
    get, path = "/api/execution/topology", tag = "executions",
    responses((status = 200, description = "The states and moves.", body = Topology))
)]
pub(super) async fn topology(_: Caller) -> Json<Topology> {
    Json(Topology::of(execution::DEFINITION))
}
