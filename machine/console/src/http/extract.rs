//! Parts of requests. An invalid one is a [`Problem`].

use std::str::FromStr;

use axum::{
    body::HttpBody,
    extract::{
        FromRequest, FromRequestParts, RawPathParams, Request,
        rejection::{BytesRejection, QueryRejection},
    },
    http::{header, request::Parts},
};
use serde::{Deserialize, de::DeserializeOwned};

use super::problem::Problem;
use machine::{
    Id,
    text::{OneLine, shortened},
};

/// The largest body of a request, in bytes.
pub(super) const LARGEST: usize = 2 * 1024 * 1024;

pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
        // A form of another page cannot send this type without asking first.
        if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
            return Err(Problem::not_json("send JSON, with `Content-Type: application/json`"));
        }
        let too_large =
            || Problem::too_large(format!("the body has more than {LARGEST} bytes; send less"));
        // Otherwise the excess would show only after that many bytes.
        if request.body().size_hint().lower() > LARGEST as u64 {
            return Err(too_large());
        }
        let bytes = axum::body::Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|rejected: BytesRejection| {
            if rejected.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE {
                too_large()
            } else {
                Problem::malformed("the body ended early")
            }
        })?;
        // Otherwise the elements of an array would be taken as fields, by position.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(Problem::malformed("invalid body: it is not a JSON object"));
        }
        let body = serde_json::from_slice(&bytes).map_err(|error| {
            Problem::malformed(format!("invalid body: {}", OneLine(&error.to_string())))
        })?;
        Ok(Self(body))
    }
}

pub(super) struct Query<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        let query = query.map_err(|rejected: QueryRejection| {
            Problem::malformed(format!("invalid query: {}", OneLine(&rejected.body_text())))
        })?;
        Ok(Self(query.0))
    }
}

/// The only parameter of a path.
pub(super) struct Named(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state).await;
        let params = params.map_err(|_| Problem::malformed("the path is not valid UTF-8"))?;
        let last = params.iter().last().map(|(_, value)| value.to_owned());
        last.map(Self).ok_or_else(|| Problem::not_found("the path has no name"))
    }
}

pub(super) struct OfMachine(pub(super) Id);

impl<S: Send + Sync> FromRequestParts<S> for OfMachine {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Named(text) = Named::from_request_parts(parts, state).await?;
        // A text that is not an id names no machine.
        let id = Id::from_str(&text).map_err(|error| Problem::not_found(error.to_string()))?;
        Ok(Self(id))
    }
}

/// A text of a query, parsed.
pub(super) fn parsed<T: FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: Option<&str>,
) -> Result<Option<T>, Problem> {
    let parse = |text: &str| {
        text.parse().map_err(|error| {
            Problem::malformed(format!("`{name}`: {}", OneLine(&format!("{error}"))))
        })
    };
    text.map(parse).transpose()
}

/// At most this many, and at least one.
pub(super) fn limit(given: Option<u32>, default: u32) -> Result<usize, Problem> {
    match given.unwrap_or(default) {
        0 => Err(Problem::malformed("`limit` is at least 1")),
        limit if limit > MAX_LIMIT => {
            Err(Problem::malformed(format!("`limit` is at most {MAX_LIMIT}; ask for pages")))
        }
        limit => Ok(limit as usize),
    }
}

/// The longest page.
const MAX_LIMIT: u32 = 1000;

/// A text that is too long to be a name.
pub(super) fn name(text: &str) -> Result<&str, Problem> {
    if text.len() > 4096 {
        return Err(Problem::malformed(format!("`{}` is too long", shortened(text))));
    }
    Ok(text)
}

/// A whole number. In JSON, `7.0` is one, too.
pub(super) fn whole<'de, D: serde::Deserializer<'de>>(number: D) -> Result<Option<u64>, D::Error> {
    use serde::de::Error as _;

    let Some(number) = Option::<serde_json::Number>::deserialize(number)? else { return Ok(None) };
    let text = number.to_string();
    let digits = text.strip_suffix(".0").unwrap_or(&text);
    let digits = if digits == "-0" { "0" } else { digits };
    let wrong = |_| D::Error::custom(format!("`{}` is not a whole number", shortened(&text)));
    digits.parse().map(Some).map_err(wrong)
}
