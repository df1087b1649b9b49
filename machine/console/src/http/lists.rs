//! The lists that are the same for every audience: the sessions, the agents, and the operator log.

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
use crate::{audience::Audience, page::split};
use machine::{
    agent::AgentOverview,
    store::{self, Cursor, Operation, SessionCursor, SessionLine},
};

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

/// Which agents.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentsQuery {
    /// The most on a page. By default 50.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The page after this place, which the page before has as `next`.
    #[param(pattern = "^oldest[.](0|[1-9][0-9]{0,18})$")]
    after: Option<String>,
}

/// A page of agents.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[allow(clippy::struct_field_names, reason = "they are the names in the document")]
pub(super) struct Agents {
    /// The agents.
    agents: Vec<AgentOverview>,
    /// The number of agents of the page, and of queued turns of them, that cannot be read.
    unreadable: usize,
    /// Where the next page begins.
    next: Option<String>,
}

/// The most queued, and the most delivered turns of an agent.
const TURNS: usize = 10;

read! {
    /// The agents, the oldest first: the active turn of each with what it waits for, its first
    /// queued turns, and its last deliverables.
    #[get("/api/agents", "agents", "list_agents", params(AgentsQuery))]
    #[shows("A page of agents.", Agents)]
    async fn agents(http, _: Caller, Query(which): Query<AgentsQuery>) -> Json<Agents> {
        let query = store::Query::new().limit(limit(which.limit, 50)?);
        let after = parsed::<Cursor>("after", which.after.as_deref())?;
        let query = after.into_iter().fold(query, store::Query::after);
        let page = http.observer.agents(&query, TURNS).await?;
        let (agents, errors) = split(page.items);
        let next = page.next.map(|next| next.to_string());
        Ok(Json(Agents { agents, unreadable: errors.len(), next }))
    }
}

/// Which part of the log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct OperationsQuery {
    /// The most on a page. By default 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The page after this place, which the page before has as `next`.
    #[param(pattern = "^(0|[1-9][0-9]{0,18})$")]
    after: Option<String>,
}

/// A page of the operator log.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[allow(clippy::struct_field_names, reason = "they are the names in the document")]
pub(super) struct Operations {
    /// Newest first.
    operations: Vec<Operation>,
    /// The number of operations of the page that were changed, or cannot be read.
    unreadable: usize,
    /// Where the next page begins.
    next: Option<String>,
}

read! {
    /// The acts of people, on the command line, over HTTP or by a program for them, newest first.
    /// Pruning has a line when it begins, and another one with its outcome.
    #[get("/api/operations", "operations", "list_operations", params(OperationsQuery))]
    #[shows("A page of the log.", Operations)]
    async fn operations(http, caller: Caller, Query(which): Query<OperationsQuery>) -> Json<Operations> {
        // It has names.
        caller.may_see(Some(Audience::Diagnostic))?;
        let after = parsed::<u64>("after", which.after.as_deref())?;
        let page = http.store.operations(limit(which.limit, 100)?, after).await;
        let page = page.map_err(|error| Problem::unavailable(&error))?;
        let (operations, errors) = split(page.items);
        let next = page.next.map(|next| next.to_string());
        Ok(Json(Operations { operations, unreadable: errors.len(), next }))
    }
}
