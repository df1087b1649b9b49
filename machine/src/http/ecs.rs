//! Answers to questions that are not gates.

use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::json::Json;
use super::{caller::Writer, extract::Body, problem::Problem, router::Shared};
use crate::id::Id;

/// An answer.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Respond {
    /// The execution that asks.
    execution_id: Id,
    /// The answer; of a long one, the first 64 KiB are kept.
    #[schema(min_length = 1)]
    response: String,
}

/// What goes on.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Continue {
    /// The execution whose question was answered.
    execution_id: Id,
}

/// The execution now.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Now {
    /// The execution.
    execution_id: Id,
    /// The state's name.
    status: String,
}

/// Stores the answer to a question. The execution still waits, until it is continued.
#[utoipa::path(
    operation_id = "respond",
    post, path = "/ecs/respond", tag = "questions", request_body = Respond,
    security(("bearer" = [])),
    responses(
        (status = 200, description = "The execution now.", body = Now),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn respond(
    State(http): State<Shared>,
    writer: Writer,
    Body(Respond { execution_id, response }): Body<Respond>,
) -> Result<Json<Now>, Problem> {
    let operator = writer.operates(&http);
    let stored = async {
        let question = operator.question(execution_id).await?;
        operator.respond(question, &response).await
    };
    match stored.await {
        Ok(_) => Ok(Json(Now { execution_id, status: "waiting".to_owned() })),
        Err(error) => Err(http.refused(execution_id, error).await),
    }
}

/// Resumes a question with its stored answer.
#[utoipa::path(
    operation_id = "continue",
    post, path = "/ecs/continue", tag = "questions", request_body = Continue,
    security(("bearer" = [])),
    responses(
        (status = 200, description = "The execution now.", body = Now),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn proceed(
    State(http): State<Shared>,
    writer: Writer,
    Body(Continue { execution_id }): Body<Continue>,
) -> Result<Json<Now>, Problem> {
    let operator = writer.operates(&http);
    let resumed = async {
        let question = operator.question(execution_id).await?;
        operator.proceed(question).await
    };
    match resumed.await {
        Ok(resumed) => {
            let status = resumed.status().definition().name.to_string();
            Ok(Json(Now { execution_id, status }))
        }
        Err(error) => Err(http.refused(execution_id, error).await),
    }
}
