use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::{
    caller::Caller,
    extract::{Query, limit, parsed},
    problem::Problem,
    router::Shared,
};
use crate::store::Operation;

/// Which part of the log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// The most on a page. By default 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The page after this place, which the page before has as `next`.
    after: Option<String>,
}

/// A page of the operator log.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Operations {
    /// Newest first.
    operations: Vec<Operation>,
    /// Where the next page begins.
    next: Option<String>,
}
