use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::Value;

use super::{caller::Caller, json::Json};
use crate::audience::Audience;
use machine::{
    Id, operate,
    store::LoadError,
    text::OneLine,
    view::{Human, LegalMove, NextStep, Observer},
};

/// Why a request was not carried out (RFC 9457). Nothing was changed, unless `detail` says what was.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Problem {
    /// What kind of problem it is, such as `urn:machine:refused`.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    kind: String,
    /// The kind in a few words.
    title: &'static str,
    /// The HTTP status code.
    status: u16,
    /// What is wrong, and what to do about it.
    detail: String,
    /// For a refused move: the moves that are legal in the state of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<LegalMove<Human>>>)]
    legal_moves: Option<Box<Value>>,
    /// For a refused move: what a person can do now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<NextStep>>)]
    next: Option<Box<Value>>,
}

/// The kind of a machine that cannot be read.
const UNREADABLE: &str = "urn:machine:unreadable";

impl Problem {
    fn new(status: StatusCode, kind: &str, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:machine:{kind}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            legal_moves: None,
            next: None,
        }
    }

    pub(super) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", "Malformed request", detail)
    }

    pub(super) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "A token is needed", detail)
    }

    pub(super) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed", detail)
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "Not found", detail)
    }

    pub(super) fn method_not_allowed() -> Self {
        let detail = "this path has other methods; see `Allow`, and api/openapi.json";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", "The method does not exist", detail)
    }

    pub(super) fn refused(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "refused", "Refused", detail)
    }

    pub(super) fn gone(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "position", "The store does not have the position", detail)
    }

    pub(super) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The body is too large", detail)
    }

    pub(super) fn not_json(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", "The body is not JSON", detail)
    }

    pub(super) fn slow() -> Self {
        let detail = "the request timed out; it may have taken effect, so look at the machine before you send it again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "slow", "Timed out", detail)
    }

    /// The server has a bug.
    pub(super) fn broken() -> Self {
        let detail = "the request could not be finished; whether it happened can be read";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "broken", "The server failed", detail)
    }

    pub(super) fn unavailable(error: &impl std::fmt::Display) -> Self {
        let detail = OneLine(&error.to_string()).to_string();
        let title = "The storage cannot do it now";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", title, detail)
    }

    /// A receipt that does not have the type of its tool.
    pub(super) fn of_receipt(error: &serde_json::Error) -> Self {
        let (status, title) = (StatusCode::UNPROCESSABLE_ENTITY, "The values do not fit");
        let detail = format!("the receipt does not fit the tool: {}", OneLine(&error.to_string()));
        Self::new(status, "payload", title, detail)
    }

    /// A machine that cannot be read. The reason may quote data, so it is for those who see all of them.
    pub(super) fn of_unreadable(error: LoadError, caller: &Caller) -> Self {
        let reason = OneLine(&error.to_string()).to_string();
        let mut problem = Self::from(error);
        if problem.kind == UNREADABLE && caller.may_see(Some(Audience::Internal)).is_ok() {
            problem.detail = reason;
        }
        problem
    }

    /// A refusal, with what can be done instead.
    pub(super) async fn of_machine(error: operate::Error, id: Id, observer: &Observer) -> Self {
        let mut problem = Self::from(error);
        if [StatusCode::CONFLICT, StatusCode::UNPROCESSABLE_ENTITY]
            .iter()
            .any(|it| problem.status == *it)
        {
            if let Ok(snapshot) = observer.snapshot::<Human>(id).await {
                problem.legal_moves = serde_json::to_value(&snapshot.moves).ok().map(Box::new);
            }
            if let Ok(next) = observer.next(id).await {
                problem.next = serde_json::to_value(&next).ok().map(Box::new);
            }
        }
        problem
    }

    pub(super) fn next_mut(&mut self) -> Option<&mut Value> {
        self.next.as_deref_mut()
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Self {
        let detail = OneLine(&error.to_string()).to_string();
        match error {
            LoadError::Unavailable(error) => Self::unavailable(&error),
            LoadError::NotFound { .. } | LoadError::Pruned { .. } => Self::not_found(detail),
            LoadError::UnknownPosition { .. } => Self::gone(detail),
            LoadError::Unreadable(_) | LoadError::BrokenRow { .. } => {
                let title = "The stored data cannot be read";
                let detail = "the machine cannot be read; an operator sees the reason here, and `verify` on the \
                    command line says it";
                // The server works: the data are to be repaired, or need another program.
                Self::new(StatusCode::CONFLICT, "unreadable", title, detail)
            }
            _ => Self::refused(detail),
        }
    }
}

impl From<operate::Error> for Problem {
    fn from(error: operate::Error) -> Self {
        match error.kind() {
            operate::ErrorKind::Refused => Self::refused(error.to_string()),
            operate::ErrorKind::Invalid => Self::malformed(error.to_string()),
            operate::ErrorKind::Payload => {
                let (status, title) = (StatusCode::UNPROCESSABLE_ENTITY, "The values do not fit");
                Self::new(status, "payload", title, error.to_string())
            }
            operate::ErrorKind::NotFound | operate::ErrorKind::Unknown => {
                Self::not_found(error.to_string())
            }
            operate::ErrorKind::Unavailable => Self::unavailable(&error),
        }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        let title = "The answer cannot be written";
        let detail = OneLine(&error.to_string()).to_string();
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "unwritable", title, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
