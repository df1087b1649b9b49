//! Requests that other pages can make a browser send.

use std::net::SocketAddr;

use serde_json::json;

use machine::store::Store;
use machine_console::http::Http;

use crate::surfaces::{Call, OPERATOR, Place, actors, shown};

/// The status of a request with these header lines.
async fn status(place: &Place, target: &str, headers: &[String]) -> u16 {
    let lines: String = headers.iter().flat_map(|line| [line, "\r\n"]).collect();
    let text = format!("GET {target} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n");
    let answer = place.raw(text).await;
    if answer.status >= 400 {
        answer.problem(answer.status, "");
    }
    answer.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_another_host_is_refused() {
    let place = Place::served_with(|http| http.host("agents.example.com").unwrap()).await;
    let port = place.address.port();
    for (hosts, expected) in [
        (vec!["localhost".to_owned()], 200),
        (vec![format!("localhost:{port}")], 200),
        (vec![format!("127.0.0.1:{port}")], 200),
        (vec!["LOCALHOST".to_owned()], 200),
        (vec!["[::1]:80".to_owned()], 200),
        (vec!["[::ffff:127.0.0.1]".to_owned()], 200),
        (vec![], 400),
        (vec!["localhost".to_owned(), "localhost".to_owned()], 400),
        (vec!["localhost".to_owned(), "evil.example".to_owned()], 400),
        (vec![String::new()], 400),
        (vec!["local host".to_owned()], 400),
        (vec!["ann@localhost".to_owned()], 400),
        (vec!["localhost:x".to_owned()], 400),
        (vec!["[::1".to_owned()], 400),
        (vec!["evil.example".to_owned()], 403),
        (vec!["localhost.evil.example".to_owned()], 403),
        (vec!["127.0.0.1.evil.example".to_owned()], 403),
        (vec!["evil.localhost".to_owned()], 403),
        // Known, but not of this computer, so it needs a token.
        (vec!["agents.example.com".to_owned()], 401),
        (vec!["Agents.Example.COM:443".to_owned()], 401),
        (vec!["192.0.2.7".to_owned()], 401),
    ] {
        let headers: Vec<_> = hosts.iter().map(|host| format!("Host: {host}")).collect();
        assert_eq!(status(&place, "/api/health", &headers).await, expected, "{hosts:?}");
        let open = if expected == 401 { 200 } else { expected };
        assert_eq!(status(&place, "/api/openapi.json", &headers).await, open, "{hosts:?}");
    }
    // The whole address as the target.
    let of = |host: &str| vec![format!("Host: {host}")];
    for (target, host, expected) in [
        ("http://localhost/api/health", "localhost", 200),
        ("http://evil.example/api/health", "localhost", 400),
        ("http://localhost/api/health", "evil.example", 400),
        ("http://evil.example/api/health", "evil.example", 403),
        ("http://ann@localhost/api/health", "localhost", 400),
    ] {
        assert_eq!(status(&place, target, &of(host)).await, expected, "{target} {host}");
    }
    // HTTP/1.0 needs no such header, so it is not clear what the request is for.
    place.raw("GET /api/health HTTP/1.0\r\n\r\n").await.problem(400, "Host");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_another_page_is_refused() {
    let place = Place::served_with(|http| http.host("agents.example.com").unwrap()).await;
    let address: SocketAddr = place.address;
    let other = if address.port() == 1 { 2 } else { address.port() - 1 };
    for (headers, expected) in [
        (vec![format!("Origin: http://{address}")], 200),
        (vec!["Origin: https://agents.example.com".to_owned()], 200),
        (vec!["Origin: null".to_owned()], 403),
        (vec!["Origin: ".to_owned()], 403),
        (vec![format!("Origin: http://127.0.0.1:{other}")], 403),
        (vec![format!("Origin: http://localhost:{}", address.port())], 403),
        (vec!["Origin: https://evil.example".to_owned()], 403),
        (vec![format!("Origin: file://{address}")], 403),
        (vec![format!("Origin: http://{address}.evil.example")], 403),
        (vec![format!("Origin: http://{address}"), "Origin: https://evil.example".to_owned()], 403),
        (vec!["Sec-Fetch-Site: same-origin".to_owned()], 200),
        (vec!["Sec-Fetch-Site: none".to_owned()], 200),
        (vec!["Sec-Fetch-Site: cross-site".to_owned()], 403),
        (vec!["Sec-Fetch-Site: same-site".to_owned()], 403),
        (vec!["Sec-Fetch-Site: cross-site".to_owned(), "Sec-Fetch-Mode: cors".to_owned()], 403),
        (vec!["Sec-Fetch-Site: cross-site".to_owned(), "Sec-Fetch-Mode: no-cors".to_owned()], 403),
    ] {
        let headers = [vec![format!("Host: {address}")], headers].concat();
        assert_eq!(status(&place, "/api/health", &headers).await, expected, "{headers:?}");
        let with_token = [headers, vec![format!("Authorization: Bearer {OPERATOR}")]].concat();
        assert_eq!(status(&place, "/api/health", &with_token).await, expected, "{with_token:?}");
    }
    // A link from another page opens the inspector.
    let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"].map(str::to_owned);
    let link = [vec![format!("Host: {address}")], link.to_vec()].concat();
    assert_eq!(status(&place, "/inspector/", &link).await, 200);
    // A form of another page, without and with what a form can send.
    let (gate, _) = place.gate("bob@example.com").await;
    let body = format!(r#"{{"gates":["{}"]}}"#, gate.id());
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let call = Call::bytes("/api/approvals/approve", body.clone()).header("content-type", kind);
        place.ask(call.token(OPERATOR)).await.problem(415, "application/json");
    }
    let call = Call::post("/api/approvals/approve", &json!({ "gates": [shown(&gate)] }));
    let call = call.token(OPERATOR).header("sec-fetch-site", "cross-site");
    place.ask(call.header("sec-fetch-mode", "navigate")).await.problem(403, "");
    drop(place.store.gate(gate.id()).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn other_pages_are_allowed_nothing() {
    let place = Place::served().await;
    let address = place.address;
    for origin in ["https://evil.example".to_owned(), format!("http://{address}")] {
        let request = format!(
            "OPTIONS /api/approvals/approve HTTP/1.1\r\nHost: {address}\r\nOrigin: {origin}\r\n\
             Access-Control-Request-Method: POST\r\nConnection: close\r\n\
             Access-Control-Request-Headers: authorization, content-type\r\n\r\n"
        );
        let answer = place.raw(request).await;
        assert!(answer.status >= 400, "{answer:?}");
        answer.problem(answer.status, "");
        for name in ["origin", "methods", "headers", "credentials", "private-network"] {
            let name = format!("access-control-allow-{name}");
            assert_eq!(answer.header(&name), None, "{answer:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_says_what_browsers_must_not_do() {
    let place = Place::served().await;
    for path in ["/api/health", "/api/nothing", "/api/openapi.json", "/nothing", "/inspector/"] {
        let answer = place.read(path).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        let cache = if path == "/inspector/" { "no-cache" } else { "no-store" };
        assert_eq!(answer.header("cache-control"), Some(cache), "{path}");
    }
}

#[test]
fn an_invalid_host_name_is_refused() {
    let store = Store::memory();
    let with = |name: &str| Http::new(&store, actors()).host(name).map(drop);
    for name in
        "agents.example.com agents xn--bcher-kva.example. a_b 192.0.2.7 [::1] ::1".split(' ')
    {
        with(name).unwrap();
    }
    let long = format!("{}.example", "a".repeat(253));
    for name in [
        "",
        ".",
        "a..b",
        "evil.com:1",
        "http://good.com/",
        "good.com/",
        "a b",
        "[::1]:80",
        "büro.de",
        "*.com",
        &long,
    ] {
        let error = with(name).unwrap_err().to_string();
        assert!(error.contains("without scheme, port and path"), "{name}: {error}");
    }
}
