//! A server on the file of a place, and a client.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
};

use axum::Router;
use machine::{
    actor::{Actors, Human},
    contract::Gate,
    store::OpenOptions,
};
use machine_console::http::{Access, Http, serve};
use machine_tests::STUCK;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::oneshot,
    task::{JoinHandle, JoinSet},
};

use super::Place;

pub(crate) const OPERATOR: &str = "operator-token-of-ann";
pub(crate) const READER: &str = "reader-token-of-dora";

/// A running server.
pub(super) struct Served {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

/// The people of the tests: ann and bob write, dora reads.
pub(crate) fn access() -> Access {
    let operator = |access: Access, name: &str| {
        access.operator(Human::new(name).unwrap(), &token_of(name)).unwrap()
    };
    let access = operator(operator(Access::new(), "ann"), "bob");
    access.reader(Human::new("dora").unwrap(), READER).unwrap()
}

/// The token of an operator.
pub(super) fn token_of(name: &str) -> String {
    format!("operator-token-of-{name}")
}

pub(crate) fn actors() -> Actors {
    Actors::issue("inspector").unwrap()
}

impl Place {
    /// With a server.
    pub(crate) async fn served() -> Self {
        Self::served_with(|http| http).await
    }

    /// With a server with other settings.
    pub(crate) async fn served_with(change: impl FnOnce(Http) -> Http) -> Self {
        Self::opened(&OpenOptions::new(), change).await
    }

    pub(crate) async fn opened(options: &OpenOptions, change: impl FnOnce(Http) -> Http) -> Self {
        let mut place = Self::with(options).await;
        let http = change(Http::new(&place.store, actors()).access(access()));
        place.start(http).await;
        place
    }

    async fn start(&mut self, http: Http) {
        let kept = match self.listener.take() {
            Some(kept) => kept,
            None => TcpListener::bind(self.address).await.unwrap().into_std().unwrap(),
        };
        self.address = kept.local_addr().unwrap();
        let listener = TcpListener::from_std(kept.try_clone().unwrap()).unwrap();
        self.listener = Some(kept);
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            serve(listener, http, stopped).await.unwrap();
        });
        self.served = Some(Served { stop, ended });
    }

    /// Stops the server.
    pub(crate) async fn stop(&mut self) {
        if let Some(Served { stop, ended }) = self.served.take() {
            drop(stop);
            tokio::time::timeout(STUCK, ended).await.unwrap().unwrap();
        }
    }

    /// Stops the server, and starts another one at the same address.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.start(Http::new(&self.store, actors()).access(access())).await;
    }

    /// A request without a token, for what is at the path.
    pub(crate) async fn read(&self, path: &str) -> Answer {
        self.ask(Call::get(path)).await
    }

    /// The document that the operator reads.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.ask(Call::get(path).token(OPERATOR)).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    /// Posts a document as the operator.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(Call::post(path, body).token(OPERATOR)).await
    }

    pub(crate) async fn ask(&self, call: Call) -> Answer {
        let address = self.address;
        tokio::task::spawn_blocking(move || call.send(address)).await.unwrap()
    }

    /// Sends these bytes on a separate connection, and returns the response.
    pub(crate) async fn raw(&self, bytes: impl Into<Vec<u8>>) -> Answer {
        let (address, bytes) = (self.address, bytes.into());
        tokio::task::spawn_blocking(move || raw(address, &bytes)).await.unwrap()
    }

    /// All that is in the file, as far as a write can change it.
    pub(crate) async fn contents(&self) -> Contents {
        machine_tests::stores::assert_intact(&self.store).await;
        let raw = rusqlite::Connection::open(self.file()).unwrap();
        let mut tables =
            raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
        let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let count = |name: String| {
            let sql = format!("SELECT count(*) FROM \"{name}\"");
            let rows = raw.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap();
            (name, rows)
        };
        let counts = names.map(|name| count(name.unwrap())).collect();
        Contents { counts, position: self.store.position().await.unwrap().to_string() }
    }
}

/// The row counts of a file, and its newest position.
#[derive(Debug, PartialEq)]
pub(crate) struct Contents {
    counts: Vec<(String, i64)>,
    position: String,
}

/// A request.
pub(crate) struct Call {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
}

impl Call {
    pub(crate) fn get(path: &str) -> Self {
        Self { method: "GET", path: path.to_owned(), headers: Vec::new(), body: None }
    }

    pub(crate) fn post(path: &str, body: &Value) -> Self {
        Self::bytes(path, body.to_string()).header("content-type", "application/json")
    }

    pub(crate) fn bytes(path: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { method: "POST", body: Some(body.into()), ..Self::get(path) }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn send(self, address: SocketAddr) -> Answer {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(STUCK))
            .build();
        let mut request = ureq::http::Request::builder()
            .method(self.method)
            .uri(format!("http://{address}{}", self.path));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let agent = config.new_agent();
        let path = &self.path;
        let answer = match self.body {
            Some(body) => agent.run(request.body(body).unwrap()),
            None => agent.run(request.body(()).unwrap()),
        };
        let answer = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        let (head, mut body) = answer.into_parts();
        let headers = head
            .headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()));
        Answer {
            status: head.status.as_u16(),
            headers: headers.collect(),
            body: body.with_config().limit(100 << 20).read_to_string().unwrap(),
        }
    }
}

/// The answer of the server.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The document of an answer with this status.
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }

    /// A problem with this status, which says this.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, text: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], status, "{self:?}");
        for field in ["type", "title", "detail"] {
            assert!(problem[field].as_str().is_some_and(|it| !it.is_empty()), "{self:?}");
        }
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(text), "{text:?} is not in {self:?}");
        assert!(!detail.contains('\n'), "{self:?}");
        problem
    }
}

/// Sends bytes, and reads until the server closes the connection.
fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(STUCK)).unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(bytes);
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Answer { status, headers, body: body.to_owned() }
}

/// Serves these routes under `/agent`, until the guard is dropped.
pub(crate) async fn nested(
    http: Http,
    change: impl FnOnce(Router) -> Router,
) -> (SocketAddr, impl Drop) {
    let app = change(Router::new().nest("/agent", http.router()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut served = JoinSet::new();
    served.spawn(async move { axum::serve(listener, app).await });
    (address, served)
}

/// The document at a path of such a server.
pub(crate) async fn nested_at(address: SocketAddr, path: &str, headers: &str) -> Answer {
    let text = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    tokio::task::spawn_blocking(move || raw(address, text.as_bytes())).await.unwrap()
}

/// A gate whose whole question was shown, for `approve`.
pub(crate) fn shown(gate: &Gate) -> Value {
    json!({ "id": gate.id(), "digest": gate.whole_question().unwrap().digest })
}

/// A body with one id in it.
pub(crate) fn execution(id: machine::Id) -> Value {
    json!({ "execution_id": id })
}
