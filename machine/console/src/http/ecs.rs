//! Answers to questions that are not gates.

use std::time::Duration;

use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::json::Json;
use super::{acts::whole, caller::Writer, extract::Body, problem::Problem, router::Shared};
use machine::{Id, effects::Resume};

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
    /// It does not go on if it has waited longer, in milliseconds from when it began to wait.
    #[serde(default, deserialize_with = "whole")]
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    max_age_ms: Option<u64>,
    /// How many of the session are continued; another number than that of those that wait is a warning.
    #[serde(default, deserialize_with = "whole")]
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    resuming: Option<u64>,
}

/// The execution goes on.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Continued {
    /// The execution.
    execution_id: Id,
    /// The state's name.
    status: String,
    /// How long it had waited, in milliseconds.
    age_ms: u64,
    /// What does not fit, and did not keep it from going on.
    warnings: Vec<String>,
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
        (status = 200, description = "The execution now.", body = Continued),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn proceed(
    State(http): State<Shared>,
    writer: Writer,
    Body(Continue { execution_id, max_age_ms, resuming }): Body<Continue>,
) -> Result<Json<Continued>, Problem> {
    let mut checks = Resume::default();
    if let Some(limit) = max_age_ms {
        checks = checks.max_age(Duration::from_millis(limit));
    }
    if let Some(count) = resuming {
        checks = checks.resuming(usize::try_from(count).unwrap_or(usize::MAX));
    }
    let operator = writer.operates(&http);
    let resumed = async {
        let question = operator.question(execution_id).await?;
        operator.proceed(question, checks).await
    };
    match resumed.await {
        Ok(resumed) => {
            let status = resumed.execution.status().definition().name.to_string();
            let warnings = resumed.warnings.iter().map(ToString::to_string).collect();
            Ok(Json(Continued { execution_id, status, age_ms: resumed.age_ms, warnings }))
        }
        Err(error) => Err(http.refused(execution_id, error).await),
    }
}
