//! The exchange of one-time codes for tokens.

use std::time::Instant;

use axum::{extract::State, http::HeaderMap};
use serde::{Deserialize, Serialize};

use super::{
    caller::{Caller, bearer},
    codes::{RELOAD, SHORTEST},
    extract::Body,
    json::Json,
    problem::Problem,
    state::Shared,
};

/// A one-time code.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneTime {
    /// The code.
    #[schema(min_length = 32, max_length = 256)]
    code: String,
}

/// The token that a code was for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct SignedIn {
    /// The token, for `Authorization: Bearer ..`.
    token: String,
}

/// The code is kept.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Kept {
    /// The number of seconds for which it can be exchanged.
    seconds: u64,
}

/// Exchanges a one-time code for a token.
#[utoipa::path(
    operation_id = "sign_in",
    post, path = "/api/sign-in", tag = "health", request_body = OneTime, security(()),
    responses(
        (status = 200, description = "The token.", body = SignedIn),
        (status = 401, description = "The code is unknown or was used.", body = Problem,
            content_type = "application/problem+json"),
    )
)]
pub(super) async fn sign_in(
    State(http): State<Shared>,
    Body(OneTime { code }): Body<OneTime>,
) -> Result<Json<SignedIn>, Problem> {
    let token = http.codes.exchange(&code).ok_or_else(|| {
        Problem::unauthorized(
            "this link was used: each signs in one browser, once; use a new one, or sign in \
             with a token",
        )
    })?;
    Ok(Json(SignedIn { token }))
}

/// Keeps a code that the page has made, by which it signs itself in again when it is loaded again.
#[utoipa::path(
    operation_id = "prepare_sign_in",
    post, path = "/api/sign-in/codes", tag = "health", request_body = OneTime,
    security(("bearer" = [])),
    responses(
        (status = 200, description = "The code is valid for a short time.", body = Kept),
    )
)]
pub(super) async fn prepare(
    State(http): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    Body(OneTime { code }): Body<OneTime>,
) -> Result<Json<Kept>, Problem> {
    let token = bearer(&headers)?.filter(|_| caller.person.is_some());
    let token = token.ok_or_else(|| Problem::unauthorized("a code is for a token; send one"))?;
    if !(SHORTEST..=256).contains(&code.chars().count()) {
        return Err(Problem::malformed(format!("a code has {SHORTEST} to 256 characters")));
    }
    http.codes.add(&code, &token, Some(Instant::now() + RELOAD));
    Ok(Json(Kept { seconds: RELOAD.as_secs() }))
}
