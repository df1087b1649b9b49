//! Withholds the arguments in questions from callers without a token.

use axum::{
    body::{Body, to_bytes},
    http::header,
    response::Response,
};
use serde_json::Value;

use super::problem::Problem;
use machine::{contract::without_arguments, view::Language};

/// How a caller without a token can see the arguments.
pub(super) const SIGN_IN: &str =
    "The arguments are shown only to callers with a token: sign in or send one.";

/// The response with the first line of each question, and with how to see the rest. Every text of
/// the document is looked at, so that no route can forget it.
pub(super) async fn withhold(response: Response, language: Language) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != "application/json") {
        // A stream has no questions.
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // It was made in memory by a route, so it has no other limit.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else { return broken() };
    let Ok(mut document) = serde_json::from_slice::<Value>(&bytes) else { return broken() };
    if !cut(&mut document, language) {
        return Response::from_parts(parts, Body::from(bytes));
    }
    let Ok(text) = crate::json::line(&document) else { return broken() };
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text))
}

fn broken() -> Response {
    axum::response::IntoResponse::into_response(Problem::broken())
}

/// Cuts the questions in a document; true if there were any.
fn cut(value: &mut Value, language: Language) -> bool {
    match value {
        Value::String(text) => match without_arguments(text, language) {
            Some(first) => {
                let lines = [first, SIGN_IN].into_iter().filter(|line| !line.is_empty());
                *text = lines.collect::<Vec<_>>().join("\n");
                true
            }
            None => false,
        },
        Value::Array(items) => cut_all(items.iter_mut(), language),
        Value::Object(members) => cut_all(members.values_mut(), language),
        _ => false,
    }
}

fn cut_all<'a>(values: impl Iterator<Item = &'a mut Value>, language: Language) -> bool {
    values.fold(false, |any, value| cut(value, language) | any)
}
