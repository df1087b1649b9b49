//! The files of the inspector, and where they are.

use std::net::SocketAddr;

use axum::{Extension, extract::ConnectInfo};
use machine::store::Store;
use machine_console::http::Http;

use crate::surfaces::{Call, Place, actors, nested, nested_at, unknown};

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_led_to_the_page() {
    let place = Place::served().await;
    let answer = place.read("/").await;
    assert_eq!((answer.status, answer.header("location")), (307, Some("/inspector/")));
    let answer = place.read("/inspector").await;
    assert_eq!((answer.status, answer.header("location")), (307, Some("/inspector/")));
    let page = place.read("/inspector/").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
        img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'";
    assert_eq!(page.header("content-security-policy"), Some(policy));
    for (file, kind) in [
        ("inspector.js", "text/javascript"),
        ("inspector.css", "text/css"),
        ("icon.svg", "image/svg+xml"),
    ] {
        let answer = place.read(&format!("/inspector/{file}")).await;
        assert_eq!(answer.status, 200, "{file}");
        assert!(answer.header("content-type").unwrap().starts_with(kind), "{file}");
    }
    for file in ["nothing.js", "..%2findex.html", "index.html%00", "%2e%2e", "index.html"] {
        place.read(&format!("/inspector/{file}")).await.problem(404, "no such file");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_of_the_page_is_served() {
    let place = Place::served().await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../machine/console/src/inspector");
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let path = if name == "index.html" { String::new() } else { name };
        let answer = place.read(&format!("/inspector/{path}")).await;
        assert_eq!(answer.body, std::fs::read_to_string(file.path()).unwrap(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_browser_has_is_not_sent_again() {
    let place = Place::served().await;
    for file in ["", "inspector.js"] {
        let path = format!("/inspector/{file}");
        let tag = place.read(&path).await.header("etag").unwrap().to_owned();
        for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}")] {
            let answer = place.ask(Call::get(&path).header("if-none-match", &known)).await;
            assert_eq!((answer.status, &*answer.body), (304, ""), "{known}");
            assert_eq!(answer.header("etag"), Some(&*tag));
        }
        let other = place.ask(Call::get(&path).header("if-none-match", "\"other\"")).await;
        assert_eq!(other.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_routes_can_be_nested() {
    let local: SocketAddr = "127.0.0.1:5000".parse().unwrap();
    let http = Http::new(&Store::memory(), actors());
    let (address, _server) = nested(http, |app| app.layer(Extension(ConnectInfo(local)))).await;
    let get = |path: &str| {
        let path = path.to_owned();
        async move { nested_at(address, &path, "Host: localhost\r\n").await }
    };
    for path in ["/agent", "/agent/inspector"] {
        let answer = get(path).await;
        assert_eq!((answer.status, answer.header("location")), (307, Some("/agent/inspector/")));
    }
    for path in ["inspector/", "inspector/inspector.js", "api/health", "api/execution/topology"] {
        assert_eq!(get(&format!("/agent/{path}")).await.status, 200, "{path}");
    }
    get(&format!("/agent/api/machines/{}", unknown())).await.problem(404, "");
    get("/agent/api/nothing").await.problem(404, "no such path");
}
