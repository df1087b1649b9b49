//! What a browser can be made to send by other pages is refused before anything looks at it.

use std::net::IpAddr;

use axum::{
    extract::{Request, State},
    http::{header, uri::Authority},
    middleware::Next,
    response::Response,
};

use super::{problem::Problem, router::Shared};
use machine::text::shortened;

/// Something that no request can have as the name of its host, such as an address with a scheme or a port.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not the name of a host; give the name alone, without scheme, port and path, such as \
     `agents.example.com`"
)]
pub struct InvalidHost(String);

/// The longest name in the domain name system.
const LONGEST_HOST: usize = 253;

/// A name that a request can be for.
pub(super) fn valid(name: String) -> Result<String, InvalidHost> {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
    };
    // With a dot at its end a name is the same, but a request has it as it was typed.
    let labels = name.strip_suffix('.').unwrap_or(&name);
    let is_address = bare(&name).parse::<IpAddr>().is_ok();
    if is_address || (name.len() <= LONGEST_HOST && labels.split('.').all(is_label)) {
        return Ok(name);
    }
    Err(InvalidHost(shortened(&name)))
}

/// Refuses a request for another host (DNS rebinding), and one that another page sends.
pub(super) async fn guard(
    State(http): State<Shared>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let Some(host) = host(&request) else {
        return Err(Problem::malformed("the request has no valid `Host` header, or several"));
    };
    let is_known = |name: &str| {
        let name = bare(name);
        // A name can be made to point here; a number cannot.
        name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || http.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    if !is_known(host.host()) {
        return Err(Problem::forbidden(
            "this host is not served here; the program allows it with `Http::host`, and `machine \
             serve` with `--host`",
        ));
    }
    for origin in request.headers().get_all(header::ORIGIN) {
        let origin = origin.to_str().ok().and_then(|origin| {
            let (scheme, rest) = origin.split_once("://")?;
            let is_web = matches!(scheme, "http" | "https");
            rest.parse::<Authority>().ok().filter(|_| is_web)
        });
        // Behind a proxy the port is another one.
        let is_own = origin.is_some_and(|origin| {
            origin.as_str().eq_ignore_ascii_case(host.as_str())
                || http.hosts.iter().any(|known| known.eq_ignore_ascii_case(bare(origin.host())))
        });
        if !is_own {
            return Err(Problem::forbidden("requests from pages of other origins are refused"));
        }
    }
    let site = request.headers().get("sec-fetch-site").map(header::HeaderValue::as_bytes);
    // A link leads to the inspector from anywhere; a form does not write.
    let is_navigation = request.method().is_safe()
        && request.headers().get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    if matches!(site, Some(b"cross-site" | b"same-site")) && !is_navigation {
        return Err(Problem::forbidden("requests from pages of other origins are refused"));
    }
    Ok(next.run(request).await)
}

/// The host that a request is for; `None` if that is not clear.
pub(super) fn host(request: &Request) -> Option<Authority> {
    let mut values = request.headers().get_all(header::HOST).iter();
    let named = match (values.next(), values.next()) {
        (Some(value), None) => Some(value.to_str().ok()?.parse::<Authority>().ok()?),
        (None, _) => None,
        (Some(_), Some(_)) => return None,
    };
    match (request.uri().authority(), named) {
        (Some(target), Some(named)) if *target != named => None,
        (target, named) => named.or_else(|| target.cloned()).filter(is_plain),
    }
}

/// A host, perhaps with a port, and nothing else.
fn is_plain(authority: &Authority) -> bool {
    let host = authority.host().len();
    authority.as_str().len() == host
        || authority
            .port()
            .is_some_and(|port| host + 1 + port.as_str().len() == authority.as_str().len())
}

/// Whether only a program of this computer reaches this host.
pub(super) fn is_loopback(host: &Authority) -> bool {
    let name = bare(host.host());
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Without the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}
