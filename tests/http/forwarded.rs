//! Only programs of this computer read without a token. The routes are nested in another server,
//! which says where a connection comes from.

use std::net::SocketAddr;

use axum::{Extension, extract::ConnectInfo};
use machine::store::Store;
use machine_console::http::Http;

use crate::surfaces::{Answer, OPERATOR, access, actors, nested, nested_at};

/// The answer of a server that is nested under `/agent`, to a client of an address.
async fn answer(peer: Option<&str>, headers: &str) -> Answer {
    let http =
        Http::new(&Store::memory(), actors()).access(access()).host("agents.example.com").unwrap();
    let peer = peer.map(|peer| Extension(ConnectInfo(peer.parse::<SocketAddr>().unwrap())));
    let (address, _server) = nested(http, |app| match peer {
        Some(peer) => app.layer(peer),
        None => app,
    })
    .await;
    nested_at(address, "/agent/api/health", headers).await
}

async fn status(peer: Option<&str>, headers: &str) -> u16 {
    answer(peer, headers).await.status
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
        (None, 401),
    ] {
        assert_eq!(status(peer, host).await, expected, "{peer:?}");
        let token = format!("{host}Authorization: Bearer {OPERATOR}\r\n");
        assert_eq!(status(peer, &token).await, 200, "{peer:?}");
    }
    // A server that does not know the address of a caller cannot know that it is of this computer.
    let to_do = "`into_make_service_with_connect_info::<std::net::SocketAddr>()`";
    answer(None, host).await.problem(401, to_do);
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
}
