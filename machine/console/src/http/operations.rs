use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::json::Json;
use super::{
    caller::Caller,
    extract::{Query, limit, parsed},
    problem::Problem,
    state::Shared,
};
use crate::audience::Audience;
use machine::store::Operation;

/// Which part of the log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
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

/// The acts of people on the command line and over HTTP, newest first. One without an outcome runs, or was
/// interrupted; the histories of its machines say what happened.
#[utoipa::path(
    operation_id = "list_operations",
    get, path = "/api/operations", tag = "operations", params(Which),
    responses(
        (status = 200, description = "A page of the log.", body = Operations),
    )
)]
pub(super) async fn list(
    State(http): State<Shared>,
    caller: Caller,
    Query(which): Query<Which>,
) -> Result<Json<Operations>, Problem> {
    // It has names.
    caller.may_see(Some(Audience::Diagnostic))?;
    let after = parsed::<u64>("after", which.after.as_deref())?;
    let page = http.store.operations(limit(which.limit, 100)?, after).await;
    let page = page.map_err(|error| Problem::unavailable(&error))?;
    let (mut operations, mut unreadable) = (Vec::new(), 0);
    for operation in page.items {
        match operation {
            Ok(operation) => operations.push(operation),
            Err(_) => unreadable += 1,
        }
    }
    Ok(Json(Operations { operations, unreadable, next: page.next.map(|next| next.to_string()) }))
}
