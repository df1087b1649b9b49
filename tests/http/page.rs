//! The files of the inspector, and where they are.

use axum::Router;
use machine::store::Store;
use machine_console::http::Http;
use tokio::net::TcpListener;

use crate::http::support::{Call, Place, actors, raw};

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_led_to_the_page() {
    let place = Place::new().await;
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
    let place = Place::new().await;
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
    let place = Place::new().await;
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

/// A server that does not know the address of a caller cannot know that it is of this computer.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_addresses_says_what_to_do() {
    let app = Router::new().nest("/agent", Http::new(&Store::memory(), actors()).router());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(async move { axum::serve(listener, app).await });
    let text = "GET /agent/api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = tokio::task::spawn_blocking(move || raw(address, text.as_bytes())).await.unwrap();
    answer.problem(401, "`into_make_service_with_connect_info::<std::net::SocketAddr>()`");
    served.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_routes_can_be_nested() {
    let agent = Http::new(&Store::memory(), actors()).router();
    let app = Router::new().nest("/agent", agent);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = app.into_make_service_with_connect_info::<std::net::SocketAddr>();
    let served = tokio::spawn(async move { axum::serve(listener, app).await });
    let get = |path: &str| {
        let text = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        tokio::task::spawn_blocking(move || raw(address, text.as_bytes()))
    };
    let answer = get("/agent").await.unwrap();
    assert_eq!((answer.status, answer.header("location")), (307, Some("/agent/inspector/")));
    assert_eq!(get("/agent/inspector/").await.unwrap().status, 200);
    assert_eq!(get("/agent/inspector/inspector.js").await.unwrap().status, 200);
    let answer = get("/agent/inspector").await.unwrap();
    assert_eq!(answer.header("location"), Some("/agent/inspector/"));
    assert_eq!(get("/agent/api/health").await.unwrap().status, 200);
    assert_eq!(get("/agent/api/execution/topology").await.unwrap().status, 200);
    let id = crate::http::support::unknown();
    get(&format!("/agent/api/machines/{id}")).await.unwrap().problem(404, "");
    get("/agent/api/nothing").await.unwrap().problem(404, "no such path");
    served.abort();
}
