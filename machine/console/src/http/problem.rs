use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::json::line;
use machine::{
    effects::StateError,
    observe::NextStep,
    operate,
    store::LoadError,
    text::OneLine,
    view::{Human, LegalMove},
};

/// The reason why a request failed (RFC 9457). Nothing was changed, unless `detail` lists changes.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Problem {
    /// The kind of the problem, such as `urn:machine:refused`.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    kind: String,
    /// The kind in a few words.
    title: &'static str,
    /// The HTTP status code.
    status: u16,
    /// The problem and its repair.
    detail: String,
    /// For a refused move: the moves that are legal in the state of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) legal_moves: Option<Vec<LegalMove<Human>>>,
    /// For a refused move: what a person can do now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<Vec<NextStep>>,
}

/// Declares the constructors of problems with a text.
macro_rules! problems {
    ($($name:ident: $status:ident, $kind:literal, $title:literal;)+) => {
        impl Problem {
            $(pub(super) fn $name(detail: impl Into<String>) -> Self {
                Self::new(StatusCode::$status, $kind, $title, detail)
            })+
        }
    };
}

problems! {
    malformed: BAD_REQUEST, "malformed", "Malformed request";
    unauthorized: UNAUTHORIZED, "unauthorized", "A token is needed";
    forbidden: FORBIDDEN, "forbidden", "Not allowed";
    not_found: NOT_FOUND, "not-found", "Not found";
    refused: CONFLICT, "refused", "Refused";
    gone: GONE, "position", "The store does not have the position";
    too_large: PAYLOAD_TOO_LARGE, "too-large", "The body is too large";
    not_json: UNSUPPORTED_MEDIA_TYPE, "not-json", "The body is not JSON";
    payload: UNPROCESSABLE_ENTITY, "payload", "Invalid values";
    no_method: METHOD_NOT_ALLOWED, "method", "The method does not exist";
    unreadable: CONFLICT, "unreadable", "The stored data cannot be read";
    unwritable: INTERNAL_SERVER_ERROR, "unwritable", "The response cannot be written";
    failed: INTERNAL_SERVER_ERROR, "broken", "The server failed";
    no_storage: SERVICE_UNAVAILABLE, "unavailable", "The storage is unavailable";
    slow: SERVICE_UNAVAILABLE, "slow", "Timed out";
}

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

    pub(super) fn broken() -> Self {
        Self::failed("the request could not be completed; check whether it took effect")
    }

    pub(super) fn unavailable(error: &impl std::fmt::Display) -> Self {
        Self::no_storage(OneLine(&error.to_string()).to_string())
    }

    /// A receipt that does not have the type of its tool.
    pub(super) fn of_receipt(error: &serde_json::Error) -> Self {
        let error = error.to_string();
        Self::payload(format!(
            "the receipt or refusal does not match the tool: {}",
            OneLine(&error)
        ))
    }

    /// The machine exists and refuses: list its legal moves.
    pub(super) fn is_about_the_machine(&self) -> bool {
        self.status == StatusCode::CONFLICT || self.status == StatusCode::UNPROCESSABLE_ENTITY
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
                // The server works: the data are to be repaired, or need another program.
                Self::unreadable(
                    "the machine cannot be read; an operator sees the reason here, and `verify` on the \
                     command line reports it",
                )
            }
            _ => Self::refused(detail),
        }
    }
}

impl From<StateError> for Problem {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Load(error) => error.into(),
            error => Self::refused(OneLine(&error.to_string()).to_string()),
        }
    }
}

impl From<operate::Error> for Problem {
    fn from(error: operate::Error) -> Self {
        match error.kind() {
            operate::ErrorKind::Refused => Self::refused(error.to_string()),
            operate::ErrorKind::Invalid => Self::malformed(error.to_string()),
            operate::ErrorKind::Payload => Self::payload(error.to_string()),
            operate::ErrorKind::NotFound | operate::ErrorKind::Unknown => {
                Self::not_found(error.to_string())
            }
            operate::ErrorKind::Unavailable => Self::unavailable(&error),
        }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::unwritable(OneLine(&error.to_string()).to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        // Texts and numbers can always be written.
        let mut response = (status, line(&self).unwrap_or_default()).into_response();
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
