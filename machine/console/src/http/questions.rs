//! Answers to questions that are not gates.

use std::time::Duration;

use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::{
    act::act,
    caller::Writer,
    extract::{Body, whole},
    json::Json,
    problem::Problem,
    state::Shared,
};
use machine::{Id, contract::execution::Status, effects::Resume};

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

/// The question to resume.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Continue {
    /// The execution whose question was answered.
    execution_id: Id,
    /// The longest waiting time after which it is still resumed, in milliseconds.
    #[serde(default, deserialize_with = "whole")]
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    max_age_ms: Option<u64>,
    /// The number of executions of the session that the caller resumes; a warning if another number
    /// waits.
    #[serde(default, deserialize_with = "whole")]
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    resuming: Option<u64>,
}

/// The execution that was resumed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Continued {
    /// The execution.
    execution_id: Id,
    /// The state's name.
    status: String,
    /// Its waiting time, in milliseconds.
    age_ms: u64,
    /// Mismatches that did not prevent it.
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

act! {
    /// Stores the answer to a question. The execution still waits, until it is continued.
    #[post("/ecs/respond", "questions", "respond")]
    #[answers(200, "The execution now.")]
    async fn respond(http, operator, answer: Respond) -> Now {
        let Respond { execution_id, response } = answer;
        let act = async {
            let question = operator.question("respond", execution_id, Resume::default()).await?;
            drop(operator.respond(question, &response).await?);
            Ok(Now { execution_id, status: Status::Waiting.to_string() })
        };
        http.answer(&[execution_id], act).await
    }
}

act! {
    /// Resumes a question with its stored answer.
    #[post("/ecs/continue", "questions", "continue")]
    #[answers(200, "The execution now.")]
    async fn proceed(http, operator, wanted: Continue) -> Continued {
        let Continue { execution_id, max_age_ms, resuming } = wanted;
        let checks = Resume {
            max_age: max_age_ms.map(Duration::from_millis),
            resuming: resuming.map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
        };
        let act = async {
            let question = operator.question("continue", execution_id, Resume::default()).await?;
            let resumed = operator.proceed(question, checks).await?;
            let status = resumed.execution.status().definition().name.to_string();
            let warnings = resumed.warnings.iter().map(ToString::to_string).collect();
            Ok(Continued { execution_id, status, age_ms: resumed.age_ms, warnings })
        };
        http.answer(&[execution_id], act).await
    }
}
