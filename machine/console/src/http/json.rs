use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use serde::Serialize;

use super::problem::Problem;
use crate::json::line;

/// A document as JSON in which what cannot be seen is escaped, like on the command line.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match line(&self.0) {
            Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
            Err(error) => Problem::from(error).into_response(),
        }
    }
}
