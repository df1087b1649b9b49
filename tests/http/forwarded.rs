//! Only programs of this computer read without a token. The routes are nested in another server, which
//! says where a connection comes from.

use std::net::SocketAddr;

use axum::{Extension, Router, extract::ConnectInfo};
use machine::store::Store;
use machine_console::http::Http;
use tokio::net::TcpListener;

use crate::http::support::{OPERATOR, access, actors, raw};

/// The answer of a server that is nested under `/agent`, to a client of an address.
async fn status(peer: Option<&str>, headers: &str) -> u16 {
    let http =
        Http::new(&Store::memory(), actors()).access(access()).host("agents.example.com").unwrap();
    let mut app = Router::new().nest("/agent", http.router());
    if let Some(peer) = peer {
        let peer: SocketAddr = peer.parse().unwrap();
        app = app.layer(Extension(ConnectInfo(peer)));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move { axum::serve(listener, app).await });
    let request = format!("GET /agent/api/health HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    let asked = move || raw(address, request.as_bytes());
    let answer = tokio::task::spawn_blocking(asked).await.unwrap();
    served.abort();
    answer.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_this_computer_is_known_by_its_address() {
    let host = "Host: localhost\r\n";
    for (peer, expected) in [
        (Some("127.0.0.1:5000"), 200),
        (Some("127.9.9.9:5000"), 200),
        (Some("[::1]:5000"), 200),
        (Some("[::ffff:127.0.0.1]:5000"), 200),
        (Some("192.0.2.7:5000"), 401),
        (Some("[2001:db8::1]:5000"), 401),
        (Some("[::ffff:192.0.2.7]:5000"), 401),
        (Some("0.0.0.0:5000"), 401),
        // A server that does not say where a connection comes from.
        (None, 401),
    ] {
        assert_eq!(status(peer, host).await, expected, "{peer:?}");
        let token = format!("{host}Authorization: Bearer {OPERATOR}\r\n");
        assert_eq!(status(peer, &token).await, 200, "{peer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_on_this_computer_is_not_a_program_of_it() {
    let peer = Some("127.0.0.1:5000");
    for header in [
        "X-Forwarded-For: 192.0.2.7",
        "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Host: agents.example.com",
        "Forwarded: for=192.0.2.7",
        "X-Real-IP: 192.0.2.7",
        "Via: 1.1 proxy",
    ] {
        let headers = format!("Host: localhost\r\n{header}\r\n");
        assert_eq!(status(peer, &headers).await, 401, "{header}");
    }
    for (host, expected) in [
        ("agents.example.com", 401),
        ("192.0.2.7", 401),
        ("localhost:9999", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("[::ffff:127.0.0.1]", 200),
    ] {
        assert_eq!(status(peer, &format!("Host: {host}\r\n")).await, expected, "{host}");
    }
}
