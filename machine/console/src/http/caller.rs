use std::net::SocketAddr;

use axum::{
    extract::{ConnectInfo, FromRequestParts, Request, State},
    http::{HeaderMap, header, request::Parts},
    middleware::Next,
    response::Response,
};

use super::{
    access::Role,
    host,
    problem::Problem,
    state::{Http, Shared},
    withhold::withhold,
};
use crate::audience::Audience;
use machine::{actor::Human, operate::Operator, store::LoadError, text::OneLine};

#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) role: Role,
    pub(super) person: Option<Human>,
}

impl Caller {
    /// The audience that was asked for, if this caller may see it.
    pub(super) fn may_see(&self, audience: Option<Audience>) -> Result<Audience, Problem> {
        let audience = audience.unwrap_or_default();
        let highest = match self.role {
            Role::Local => Audience::Human,
            Role::Reader => Audience::Diagnostic,
            Role::Operator => Audience::Internal,
        };
        if audience <= highest {
            return Ok(audience);
        }
        Err(Problem::forbidden(match audience {
            Audience::Internal => "the audience `internal` needs the token of an operator",
            _ => "the audience `diagnostic` needs a token",
        }))
    }

    /// The problem that a machine cannot be read, with the reason if this caller sees everything.
    pub(super) fn unreadable(&self, error: LoadError) -> Problem {
        match error {
            // It may quote data.
            LoadError::Unreadable(_) | LoadError::BrokenRow { .. }
                if self.role == Role::Operator =>
            {
                Problem::unreadable(OneLine(&error.to_string()).to_string())
            }
            error => error.into(),
        }
    }
}

/// A caller who may write. It is extracted first, so that a caller without the right learns nothing
/// about the rest.
#[derive(Debug)]
pub(super) struct Writer(Human);

impl Writer {
    pub(super) fn operates<'a>(&'a self, http: &'a Http) -> Operator<'a> {
        Operator::new(&http.store, &http.actors, &self.0, "http")
    }
}

impl<S: Sync> FromRequestParts<S> for Writer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Caller { role, person } = Caller::from_request_parts(parts, state).await?;
        match (person, role) {
            (Some(person), Role::Operator) => Ok(Self(person)),
            (Some(_), _) => Err(Problem::forbidden("this token can only read")),
            (None, _) => Err(Problem::unauthorized("a write needs the token of an operator")),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let known = parts.extensions.get::<Self>().cloned();
        known.ok_or_else(|| Problem::unauthorized(NO_TOKEN))
    }
}

const NO_TOKEN: &str = "send a token: `Authorization: Bearer ..`";

/// The server does not know the address of the sender.
const NO_ADDRESS: &str = "send a token: `Authorization: Bearer ..`; programs of this computer need none if the \
    server knows their address: serve the router with \
    `into_make_service_with_connect_info::<std::net::SocketAddr>()`";

/// Identifies the sender of a request. Without a token, only programs of this computer are let
/// through.
pub(super) async fn authenticate(
    State(http): State<Shared>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let caller = match bearer(request.headers())? {
        Some(token) => {
            let found = http.access.find(token.as_bytes());
            let (role, person) = found.ok_or_else(|| Problem::unauthorized("unknown token"))?;
            Caller { role, person: Some(person.clone()) }
        }
        None if http.access.is_local_open() && is_local(&request) => {
            Caller { role: Role::Local, person: None }
        }
        None if http.access.is_local_open()
            && request.extensions().get::<ConnectInfo<SocketAddr>>().is_none() =>
        {
            return Err(Problem::unauthorized(NO_ADDRESS));
        }
        None => return Err(Problem::unauthorized(NO_TOKEN)),
    };
    let shows_arguments = caller.role > Role::Local;
    request.extensions_mut().insert(caller);
    let response = next.run(request).await;
    Ok(if shows_arguments { response } else { withhold(response, http.language).await })
}

pub(super) fn bearer(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let malformed =
        || Problem::unauthorized("the header must be `Authorization: Bearer TOKEN`, once");
    let value = value.to_str().map_err(|_| malformed())?;
    let (scheme, token) = value.split_once(' ').ok_or_else(malformed)?;
    if values.next().is_some() || !scheme.eq_ignore_ascii_case("bearer") {
        return Err(malformed());
    }
    Ok(Some(token.trim().to_owned()))
}

/// True for a request from a program of this computer that did not pass through a proxy.
fn is_local(request: &Request) -> bool {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let mut names = request.headers().keys().map(header::HeaderName::as_str);
    let is_forwarded = names.any(|name| {
        name.starts_with("x-forwarded") || matches!(name, "forwarded" | "x-real-ip" | "via")
    });
    peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback())
        && !is_forwarded
        // Browsers do not send it, and proxies do, by default.
        && request.version() > axum::http::Version::HTTP_10
        && host::host(request).as_ref().is_some_and(host::is_loopback)
}
