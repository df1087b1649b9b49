//! Refuses what other pages can make a browser send, before anything else reads the request.

use std::net::IpAddr;

use axum::{
    extract::{Request, State},
    http::{header, uri::Authority},
    middleware::Next,
    response::Response,
};

use super::{
    host::{bare, host},
    problem::Problem,
    state::Shared,
};

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
        // Behind a proxy the port differs.
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
