use axum::{extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json::Json;
use super::{
    caller::Writer,
    extract::{Body, OfMachine},
    problem::Problem,
    router::Http,
    router::Shared,
    steps::add_command,
};
use machine::{
    Id,
    operate::{self, Accepted, Cancelled, Finding, Sending},
};

/// What a person found out about an action in doubt. Its schema has what goes with what.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Confirm {
    applied: bool,
    #[serde(default, rename = "override")]
    overridden: bool,
    receipt: Option<String>,
    reason: Option<String>,
}

/// Why.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Why {
    /// For the record.
    reason: Option<String>,
}

/// Nothing but the act.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// What to try again.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Requeue {
    /// Also these messages to the machine, by their correlation ids.
    #[serde(default)]
    messages: Vec<String>,
}

/// An event for a machine.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Send {
    /// The trigger.
    trigger: String,
    /// What the trigger takes.
    #[serde(default)]
    #[schema(value_type = Object)]
    payload: Map<String, Value>,
    /// A machine takes one message of each correlation id; by default a new one.
    correlation: Option<String>,
    /// The `transition_count` of the machine that the person has seen. If it has moved on, the event is
    /// refused, and it is not applied if it moves on before. An event for a state that waits is never for
    /// the next one.
    #[serde(default, deserialize_with = "whole")]
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    seen: Option<u64>,
    /// It is an answer to a question that will come. Without this, an answer is refused that nobody has
    /// asked for yet.
    #[serde(default)]
    early: bool,
}

/// A whole number. In JSON, `7.0` is one, too.
pub(super) fn whole<'de, D: serde::Deserializer<'de>>(number: D) -> Result<Option<u64>, D::Error> {
    use serde::de::Error as _;

    let Some(number) = Option::<serde_json::Number>::deserialize(number)? else { return Ok(None) };
    let text = number.to_string();
    let digits = text.strip_suffix(".0").unwrap_or(&text);
    let digits = if digits == "-0" { "0" } else { digits };
    digits.parse().map(Some).map_err(|_| {
        D::Error::custom(format!("`{}` is not a whole number", machine::text::shortened(&text)))
    })
}

/// It is done.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Done {
    /// The machine.
    id: Id,
}

/// The new attempt.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Retried {
    /// The execution that failed.
    id: Id,
    /// The new attempt.
    attempt: Id,
}

/// The call is in doubt.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Fenced {
    /// The execution.
    id: Id,
    /// What has to be found out.
    question: String,
}

/// The message is kept until its program applies it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Sent {
    /// The machine.
    id: Id,
    #[serde(flatten)]
    accepted: Accepted,
}

impl Http {
    /// A refusal, with what can be done instead.
    pub(super) async fn refused(&self, id: Id, error: operate::Error) -> Problem {
        let mut problem = Problem::of_machine(error, id, &self.observer).await;
        if let Some(Value::Array(steps)) = problem.next_mut() {
            for step in steps {
                add_command(step, &self.command);
            }
        }
        problem
    }
}

/// Says whether an action in doubt took place.
#[utoipa::path(
    operation_id = "confirm",
    post, path = "/api/machines/{id}/confirm", tag = "acts", request_body = Confirm,
    params(("id" = Id, Path)), security(("bearer" = [])),
    responses(
        (status = 200, description = "It is done.", body = Done),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn confirm(
    State(http): State<Shared>,
    writer: Writer,
    OfMachine(id): OfMachine,
    Body(found): Body<Confirm>,
) -> Result<Json<Done>, Problem> {
    let operator = writer.operates(&http);
    let finding = match (&found, found.applied) {
        (Confirm { overridden: false, reason: None, receipt, .. }, true) => {
            Finding::Applied(receipt.as_deref())
        }
        (Confirm { overridden: false, receipt: None, reason, .. }, false) => {
            Finding::NotApplied(reason.as_deref())
        }
        (Confirm { overridden: true, receipt: None, reason, .. }, false) => {
            Finding::Overridden(reason.as_deref())
        }
        (_, true) => {
            return Err(Problem::malformed("with `applied`, send `receipt` and nothing else"));
        }
        (_, false) => return Err(Problem::malformed("`receipt` is for what took place")),
    };
    let confirmed = async {
        let doubt = operator.in_doubt(id).await?;
        operator.confirm(doubt, finding).await
    };
    match confirmed.await {
        Ok(()) => Ok(Json(Done { id })),
        Err(error) => Err(http.refused(id, error).await),
    }
}

/// Records that a person has seen and dealt with what a receipt contradicts.
#[utoipa::path(
    operation_id = "acknowledge",
    post, path = "/api/machines/{id}/acknowledge", tag = "acts", request_body = Nothing,
    params(("id" = Id, Path)), security(("bearer" = [])),
    responses(
        (status = 200, description = "It is done.", body = Done),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn acknowledge(
    State(http): State<Shared>,
    writer: Writer,
    OfMachine(id): OfMachine,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Json<Done>, Problem> {
    match writer.operates(&http).acknowledge(id).await {
        Ok(()) => Ok(Json(Done { id })),
        Err(error) => Err(http.refused(id, error).await),
    }
}

/// Tries what failed again: a new attempt with the same key.
#[utoipa::path(
    operation_id = "retry",
    post, path = "/api/machines/{id}/retry", tag = "acts", request_body = Nothing,
    params(("id" = Id, Path)), security(("bearer" = [])),
    responses(
        (status = 200, description = "The new attempt.", body = Retried),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn retry(
    State(http): State<Shared>,
    writer: Writer,
    OfMachine(id): OfMachine,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Json<Retried>, Problem> {
    let operator = writer.operates(&http);
    match operator.retry(id).await {
        Ok(attempt) => Ok(Json(Retried { id, attempt })),
        Err(error) => Err(http.refused(id, error).await),
    }
}

/// Cancels what is not needed any more: the library's own executions at once, any other machine by a
/// message.
#[utoipa::path(
    operation_id = "cancel",
    post, path = "/api/machines/{id}/cancel", tag = "acts", request_body = Why,
    params(("id" = Id, Path)), security(("bearer" = [])),
    responses(
        (status = 200, description = "It is cancelled, or will be.", body = Cancelled),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn cancel(
    State(http): State<Shared>,
    writer: Writer,
    OfMachine(id): OfMachine,
    Body(why): Body<Why>,
) -> Result<Json<Cancelled>, Problem> {
    let operator = writer.operates(&http);
    match operator.cancel(&[id], why.reason.as_deref()).await {
        Ok(mut cancelled) => match cancelled.pop() {
            Some(cancelled) => Ok(Json(cancelled)),
            None => Err(Problem::not_found("nothing was cancelled")),
        },
        Err(error) => Err(http.refused(id, error).await),
    }
}

/// Shuts out the worker of a call, which puts the call in doubt.
#[utoipa::path(
    operation_id = "fence",
    post, path = "/api/machines/{id}/fence", tag = "acts", request_body = Why,
    params(("id" = Id, Path)), security(("bearer" = [])),
    responses(
        (status = 200, description = "The call is in doubt.", body = Fenced),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn fence(
    State(http): State<Shared>,
    writer: Writer,
    OfMachine(id): OfMachine,
    Body(why): Body<Why>,
) -> Result<Json<Fenced>, Problem> {
    let operator = writer.operates(&http);
    match operator.fence(id, why.reason.as_deref()).await {
        Ok(doubt) => Ok(Json(Fenced { id, question: doubt.question_in(http.language) })),
        Err(error) => Err(http.refused(id, error).await),
    }
}

/// Lets workers try again what they set aside.
#[utoipa::path(
    operation_id = "requeue",
    post, path = "/api/machines/{id}/requeue", tag = "acts", request_body = Requeue,
    params(("id" = Id, Path)), security(("bearer" = [])),
    responses(
        (status = 200, description = "It is done.", body = Done),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn requeue(
    State(http): State<Shared>,
    writer: Writer,
    OfMachine(id): OfMachine,
    Body(Requeue { messages }): Body<Requeue>,
) -> Result<Json<Done>, Problem> {
    let operator = writer.operates(&http);
    match operator.requeue(&[id], &messages).await {
        Ok(()) => Ok(Json(Done { id })),
        Err(error) => Err(http.refused(id, error).await),
    }
}

/// Sends a machine one of its events, for its program to apply.
#[utoipa::path(
    operation_id = "send",
    post, path = "/api/machines/{id}/send", tag = "acts", request_body = Send,
    params(("id" = Id, Path)), security(("bearer" = [])),
    responses(
        (status = 202, description = "The message is kept.", body = Sent),
        (status = 409, description = "Refused, with the legal moves.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn send(
    State(http): State<Shared>,
    writer: Writer,
    OfMachine(id): OfMachine,
    Body(Send { trigger, payload, correlation, seen, early }): Body<Send>,
) -> Result<(StatusCode, Json<Sent>), Problem> {
    let operator = writer.operates(&http);
    let sending = Sending { correlation, seen, early };
    match operator.send(id, &trigger, payload, sending).await {
        Ok(accepted) => Ok((StatusCode::ACCEPTED, Json(Sent { id, accepted }))),
        Err(error) => Err(http.refused(id, error).await),
    }
}
