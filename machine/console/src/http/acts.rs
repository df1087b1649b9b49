use axum::{extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    act::act,
    caller::Writer,
    extract::{Body, OfMachine, whole},
    json::Json,
    problem::Problem,
    state::Shared,
};
use machine::{
    Id,
    operate::{Cancelled, Finding, SendOptions, SentMessage},
};

/// The finding of a person about an action in doubt. Its schema tells which fields go together.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub(super) struct Confirm(Fields);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    applied: bool,
    #[serde(default, rename = "override")]
    overridden: bool,
    receipt: Option<String>,
    reason: Option<String>,
}

impl TryFrom<Fields> for Confirm {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, &'static str> {
        match fields {
            Fields { applied: true, overridden: false, reason: None, .. }
            | Fields { applied: false, receipt: None, .. } => Ok(Self(fields)),
            Fields { applied: true, .. } => Err("with `applied`, send `receipt` and nothing else"),
            Fields { applied: false, .. } => Err("`receipt` is for what took effect"),
        }
    }
}

impl Confirm {
    fn finding(&self) -> Finding<'_> {
        let Fields { applied, overridden, receipt, reason } = &self.0;
        match (applied, overridden) {
            (true, _) => Finding::Applied(receipt.as_deref()),
            (false, false) => Finding::NotApplied(reason.as_deref()),
            (false, true) => Finding::Overridden(reason.as_deref()),
        }
    }
}

/// The reason of an act.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Why {
    /// For the record.
    reason: Option<String>,
}

/// An empty body.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// The messages to try again.
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
    /// The payload of the trigger.
    #[serde(default)]
    #[schema(value_type = Object)]
    payload: Map<String, Value>,
    /// A machine takes one message of each correlation id; by default a new one.
    correlation: Option<String>,
    /// The `transition_count` of the machine that the person has seen. If it has moved on, the
    /// event is refused, and it is not applied if it moves on before. An answer to a question is
    /// never for the next one.
    #[serde(default, deserialize_with = "whole")]
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    seen: Option<u64>,
    /// Allow an answer to a future question. Without this, an answer before its question is
    /// refused.
    #[serde(default)]
    early: bool,
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
    /// The question to settle.
    question: String,
}

/// The message is kept until its program applies it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Sent {
    /// The machine.
    id: Id,
    #[serde(flatten)]
    accepted: SentMessage,
}

act! {
    /// Settles an action in doubt by the finding of a person.
    #[post("/api/machines/{id}/confirm", "acts", "confirm")]
    #[answers(200, "Done.")]
    async fn confirm(http, operator, about id, found: Confirm) -> Done {
        let doubt = operator.in_doubt(id, found.finding()).await?;
        operator.confirm(doubt, found.finding()).await?;
        Ok(Done { id })
    }
}

act! {
    /// Records that a person has dealt with a contradiction.
    #[post("/api/machines/{id}/acknowledge", "acts", "acknowledge")]
    #[answers(200, "Done.")]
    async fn acknowledge(http, operator, about id, _nothing: Nothing) -> Done {
        operator.acknowledge(id).await?;
        Ok(Done { id })
    }
}

act! {
    /// Retries a failed execution: a new attempt with the same key.
    #[post("/api/machines/{id}/retry", "acts", "retry")]
    #[answers(200, "The new attempt.")]
    async fn retry(http, operator, about id, _nothing: Nothing) -> Retried {
        Ok(Retried { id, attempt: operator.retry(id).await? })
    }
}

act! {
    /// Cancels a machine that is no longer needed: an execution at once, any other machine by a
    /// message.
    #[post("/api/machines/{id}/cancel", "acts", "cancel")]
    #[answers(200, "Cancelled, or about to be.")]
    async fn cancel(http, operator, about id, why: Why) -> Cancelled {
        Ok(operator.cancel(&[id], why.reason.as_deref()).await?.swap_remove(0))
    }
}

act! {
    /// Fences the worker of a call, which puts the call in doubt.
    #[post("/api/machines/{id}/fence", "acts", "fence")]
    #[answers(200, "The call is in doubt.")]
    async fn fence(http, operator, about id, why: Why) -> Fenced {
        let doubt = operator.fence(id, why.reason.as_deref()).await?;
        Ok(Fenced { id, question: doubt.question_in(http.language) })
    }
}

act! {
    /// Returns work that was set aside, or a machine that nothing can move, to the workers.
    #[post("/api/machines/{id}/requeue", "acts", "requeue")]
    #[answers(200, "Done.")]
    async fn requeue(http, operator, about id, aside: Requeue) -> Done {
        operator.requeue(&[id], &aside.messages).await?;
        Ok(Done { id })
    }
}

act! {
    /// Sends a machine one of its events, for its program to apply.
    #[post("/api/machines/{id}/send", "acts", "send")]
    #[answers(202, "The message is stored.")]
    async fn send(http, operator, about id, event: Send) -> Sent {
        let Send { trigger, payload, correlation, seen, early } = event;
        let sending = SendOptions { correlation, seen, early };
        Ok(Sent { id, accepted: operator.send(id, &trigger, payload, sending).await? })
    }
}
