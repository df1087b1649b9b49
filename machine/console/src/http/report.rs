//! Reports of services about the calls that they have accepted.

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use serde::Serialize;

use super::{
    caller::bearer,
    extract::{Body, OfMachine},
    json::Json,
    problem::Problem,
    receipts::CallReport,
    state::Shared,
};
use machine::{
    Id,
    contract::CallbackToken,
    effects::{AcceptedCall, ReportError, Reported},
};

/// A service that has the token of a call. The first part of a request that is looked at: without
/// the token, nothing is learned about the rest.
pub(super) struct Service(AcceptedCall);

impl FromRequestParts<Shared> for Service {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, http: &Shared) -> Result<Self, Problem> {
        // The same answer for every error, including an unknown id.
        let unknown = || {
            Problem::unauthorized(
                "no call has this id and this token: send `Authorization: Bearer TOKEN` with the token of the call",
            )
        };
        let token = bearer(&parts.headers).ok().flatten().ok_or_else(unknown)?;
        let id = OfMachine::from_request_parts(parts, http).await;
        let OfMachine(id) = id.map_err(|_| unknown())?;
        let call = http.store.accepted_call(id, CallbackToken::new(token)).await;
        call.map(Self).map_err(|error| match error.unavailable() {
            Some(error) => Problem::unavailable(error),
            None => unknown(),
        })
    }
}

/// The effect of a report.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum Taken {
    /// It settled the call.
    Settled,
    /// It was known before. Nothing was changed.
    Known,
    /// It is kept as late evidence: the call was settled before, or is still running.
    Kept,
}

/// The report is on disk.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ReportTaken {
    /// Its effect.
    report: Taken,
}

/// Takes the outcome of a call that its service has accepted. The token is that of the call, and of
/// no other.
#[utoipa::path(
    operation_id = "report",
    post, path = "/api/execution/{execution_id}/report", tag = "executions", request_body = CallReport,
    params(("execution_id" = Id, Path)), security(("bearer" = [])),
    responses(
        (status = 200, description = "The report is on disk.", body = ReportTaken),
        (status = 401, description = "No call has this id and this token.", body = Problem,
            content_type = "application/problem+json"),
        (status = 409, description = "Too many different reports.", body = Problem,
            content_type = "application/problem+json"),
        (status = 422, description = "The receipt or refusal does not have the type of the tool.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn report(
    State(http): State<Shared>,
    service: Service,
    Body(report): Body<CallReport>,
) -> Result<Json<ReportTaken>, Problem> {
    let Service(call) = service;
    // A longer one would be cut when it is stored.
    let size = match &report {
        CallReport::Applied(receipt) => receipt.to_string().len(),
        CallReport::NotApplied(refusal) => refusal.to_string().len(),
    };
    if size > AcceptedCall::LARGEST {
        let text = format!(
            "a receipt or a refusal has at most {} bytes; report a shorter one",
            AcceptedCall::LARGEST
        );
        return Err(Problem::too_large(text));
    }
    let report = http.receipts.read(call.tool.as_deref(), report);
    let report = report.map_err(|error| Problem::of_receipt(&error))?;
    let taken = call.report(report).await;
    let report = match taken {
        Ok(Reported::Settled(_)) => Taken::Settled,
        Ok(Reported::Known(_)) => Taken::Known,
        Ok(Reported::Kept(_)) => Taken::Kept,
        Err(error @ ReportError::TooMany { .. }) => {
            return Err(Problem::refused(error.to_string()));
        }
        Err(error) => {
            return Err(match error.unavailable() {
                Some(error) => Problem::unavailable(error),
                None => Problem::broken(),
            });
        }
    };
    Ok(Json(ReportTaken { report }))
}
