//! The names of the hosts that requests are for.

use std::net::IpAddr;

use axum::{
    extract::Request,
    http::{header, uri::Authority},
};

use machine::text::shortened;

/// Something that no request can have as the name of its host, such as an address with a scheme or
/// a port.
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

fn is_plain(authority: &Authority) -> bool {
    let host = authority.host().len();
    authority.as_str().len() == host
        || authority
            .port()
            .is_some_and(|port| host + 1 + port.as_str().len() == authority.as_str().len())
}

/// True if only programs of this computer reach this host.
pub(super) fn is_loopback(host: &Authority) -> bool {
    let name = bare(host.host());
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Without the brackets of an IPv6 address.
pub(super) fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}
