use axum::{
    extract::State,
    response::{IntoResponse, Response},
};

use super::{
    act::read,
    caller::Caller,
    extract::{Named, OfMachine, Query, name},
    json::Json,
    machines::For,
    problem::Problem,
    state::Shared,
};
use crate::audience::for_audience;
use machine::{
    contract::execution,
    store::LoadError,
    stored::VerifyError,
    view::{ExecutionSnapshot, ExecutionTimeline, Internal, Topology, View},
};

read! {
    /// The executions of a session, also of one that has ended, with their transitions.
    #[get("/api/execution/{session_id}/timeline", "executions", "execution_timeline", params(("session_id" = String, Path), For))]
    #[shows("The executions of the session.", ExecutionTimeline<Internal>)]
    #[problem(404, "No machine has this session.")]
    async fn timeline(http, caller: Caller, Named(session): Named, Query(shown): Query<For>) -> Response {
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
}

read! {
    /// An execution.
    #[get("/api/execution/{execution_id}/snapshot", "executions", "execution_snapshot", params(("execution_id" = machine::Id, Path), For))]
    #[shows("The execution.", ExecutionSnapshot<Internal>)]
    #[problem(404, "No execution has this id.")]
    async fn snapshot(http, caller: Caller, OfMachine(id): OfMachine, Query(shown): Query<For>) -> Response {
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
}

read! {
    /// The states and moves of executions.
    #[get("/api/execution/topology", "executions", "execution_topology")]
    #[shows("The states and moves.", Topology)]
    async fn topology(_http, _: Caller) -> Json<View<Topology>> {
        Ok(Json(Topology::of(execution::DEFINITION)))
    }
}
