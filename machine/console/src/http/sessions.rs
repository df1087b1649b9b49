use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::{
    act::read,
    caller::Caller,
    extract::{Query, limit, parsed},
    json::Json,
    problem::Problem,
    state::Shared,
};
use machine::store::{SessionCursor, SessionLine};

/// Which sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionsQuery {
    /// The most on a page. By default 50.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The page after this place, which the page before has as `next`.
    #[param(pattern = "^(0|[1-9][0-9]{0,18})[.](0|[1-9][0-9]{0,18})$")]
    after: Option<String>,
}

/// A page of sessions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Sessions {
    /// The sessions.
    sessions: Vec<SessionLine>,
    /// Where the next page begins.
    next: Option<String>,
}

read! {
    /// The sessions of all machines, past ones too; the one with the newest machine first.
    #[get("/api/sessions", "sessions", "list_sessions", params(SessionsQuery))]
    #[shows("A page of sessions.", Sessions)]
    async fn sessions(http, _: Caller, Query(which): Query<SessionsQuery>) -> Json<Sessions> {
        let after = parsed::<SessionCursor>("after", which.after.as_deref())?;
        let page = http.store.sessions(limit(which.limit, 50)?, after).await;
        let page = page.map_err(|error| Problem::unavailable(&error))?;
        let next = page.next.map(|next| next.to_string());
        Ok(Json(Sessions { sessions: page.items, next }))
    }
}
