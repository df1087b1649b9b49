//! A server on a real file, and a client.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    time::Duration,
};

use machine::{
    Id,
    actor::{Actors, Human},
    contract::{Action, Contract, Gate, NotDone, Planned, Settled},
    machine,
    store::{Message, OpenOptions, Store},
    worker::{Failure, Handler, Next, Task, Worker},
};
use machine_console::http::{Access, Http, serve};
use machine_tests::{
    actors::{ecs_node, tool_node},
    samples::{answers, asked, asked_in, mail, receipt},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

pub(crate) const OPERATOR: &str = "operator-token-of-ann";
pub(crate) const READER: &str = "reader-token-of-dora";

/// No answer takes longer.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A server, with its file and its store.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) store: Store,
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<()>>,
}

/// The people of the tests: ann writes, dora reads.
pub(crate) fn access() -> Access {
    let access = Access::new().operator(Human::new("ann").unwrap(), OPERATOR).unwrap();
    access.reader(Human::new("dora").unwrap(), READER).unwrap()
}

pub(crate) fn actors() -> Actors {
    Actors::issue("inspector").unwrap()
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(|http| http).await
    }

    /// A server with other settings.
    pub(crate) async fn with(change: impl FnOnce(Http) -> Http) -> Self {
        Self::opened(&OpenOptions::new(), change).await
    }

    pub(crate) async fn opened(options: &OpenOptions, change: impl FnOnce(Http) -> Http) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = options.sqlite(folder.path().join("agent.db")).await.unwrap();
        let http = change(Http::new(&store, actors()).access(access()));
        let mut place =
            Self { folder, store, address: ([127, 0, 0, 1], 0).into(), stop: None, served: None };
        place.start(http).await;
        place
    }

    async fn start(&mut self, http: Http) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        self.stop = Some(stop);
        self.served = Some(tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            serve(listener, http, stopped).await.unwrap();
        }));
    }

    /// Stops the server.
    pub(crate) async fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(served) = self.served.take() {
            tokio::time::timeout(SOON, served).await.unwrap().unwrap();
        }
    }

    /// Stops the server, and starts another one at the same address.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.start(Http::new(&self.store, actors()).access(access())).await;
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
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

    /// These bytes on a connection of their own, and all that comes back.
    pub(crate) async fn raw(&self, bytes: impl Into<Vec<u8>>) -> Answer {
        let (address, bytes) = (self.address, bytes.into());
        tokio::task::spawn_blocking(move || raw(address, &bytes)).await.unwrap()
    }

    /// All that is in the file, as far as a write can change it.
    pub(crate) async fn contents(&self) -> Contents {
        let report = self.store.verify_all(|_| ()).await.unwrap();
        assert!(report.is_clean(), "{report:?}");
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
            .timeout_global(Some(SOON))
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
pub(crate) fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
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

/// A machine of the program's own.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order {
    #[initial]
    #[stable]
    #[on(confirm(amount, note) => Paying, by = machine::actor::Human)]
    #[on(cancel(reason) => Cancelled, by = machine::actor::Human)]
    Asking,
    #[stable]
    #[on(again => Asking)]
    #[on(accept => Paid, by = machine::actor::Human)]
    Paying {
        #[audience(human)]
        amount: u32,
        note: Option<String>,
    },
    #[terminal]
    Paid,
    #[terminal]
    Cancelled { reason: String },
}

/// A gate whose whole question was shown, for `approve`.
pub(crate) fn shown(gate: &Gate) -> Value {
    json!({ "id": gate.id(), "digest": gate.whole_question().unwrap().digest })
}

impl Place {
    /// A mail behind a gate.
    pub(crate) async fn gate(&self, to: &str) -> (Gate, Planned<Action>) {
        self.gate_of(mail(to)).await
    }

    pub(crate) async fn gate_of(&self, contract: Contract) -> (Gate, Planned<Action>) {
        let (mut gate, mut planned) = contract.ask::<Action>(None, ecs_node()).unwrap();
        self.store.ask(&mut gate, &mut planned).await.unwrap();
        (gate, planned)
    }

    /// A question to a person.
    pub(crate) async fn question(&self) -> Id {
        let mut question = asked("Which port?");
        self.store.create(&mut question).await.unwrap();
        question.id()
    }

    pub(crate) async fn question_of(&self, contract: Contract) -> Id {
        let mut question = asked_in(contract);
        self.store.create(&mut question).await.unwrap();
        question.id()
    }

    /// An execution in doubt, whose worker is this process.
    pub(crate) async fn doubt(&self, to: &str) -> Id {
        let unknown = answers(Err(NotDone::unknown("connection lost")));
        let planned = self.planned(to).await;
        let id = planned.id();
        let settled = self.store.perform(planned, unknown, tool_node()).await.unwrap();
        assert!(matches!(settled, Settled::InDoubt(_)), "{settled:?}");
        id
    }

    /// An execution that failed.
    pub(crate) async fn failed(&self, to: &str) -> Id {
        let refused = answers(Err(NotDone::not_applied("mailbox full")));
        let planned = self.planned(to).await;
        let id = planned.id();
        let settled = self.store.perform(planned, refused, tool_node()).await.unwrap();
        assert!(matches!(settled, Settled::Failed(_)), "{settled:?}");
        id
    }

    /// A mail that was sent.
    pub(crate) async fn sent(&self, contract: Contract) -> Id {
        let mut planned = Planned::<Action>::new(contract).unwrap();
        self.store.plan(&mut planned).await.unwrap();
        let id = planned.id();
        let settled = self.store.perform(planned, receipt("250 OK"), tool_node()).await.unwrap();
        assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");
        id
    }

    async fn planned(&self, to: &str) -> Planned<Action> {
        let mut planned = Planned::<Action>::new(mail(to)).unwrap();
        self.store.plan(&mut planned).await.unwrap();
        planned
    }

    /// A stored order that waits.
    pub(crate) async fn order(&self) -> Id {
        let mut order = Order::new();
        self.store.create(&mut order).await.unwrap();
        order.id()
    }

    /// An order with a message that a worker has set aside.
    pub(crate) async fn set_aside(&self) -> (Id, String) {
        let id = self.order().await;
        let body = r#"{"trigger": "confirm", "amount": "three"}"#;
        let message = Message::from_json(body, &Human::new("ann").unwrap()).unwrap();
        self.store.send(id, &message).await.unwrap();
        let worker = Worker::new(&self.store, Actors::issue("shop").unwrap()).handler(Waits);
        worker.run_until_idle().await.unwrap();
        (id, message.correlation().to_owned())
    }
}

/// Every state waits for messages.
struct Waits;

impl Handler for Waits {
    type Machine = AnyOrder;

    async fn handle(&self, _: AnyOrder, _: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        Ok(Next::Wait)
    }
}

/// A body with one id in it.
pub(crate) fn execution(id: Id) -> Value {
    json!({ "execution_id": id })
}

/// An id that no machine has.
pub(crate) fn unknown() -> Id {
    "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap()
}

impl Place {
    /// Edits the file, bypassing the library.
    pub(crate) fn edit(&self, sql: &str) {
        let raw = rusqlite::Connection::open(self.file()).unwrap();
        let mut select =
            raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        let names: Vec<String> =
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for name in names {
            raw.execute(&format!("DROP TRIGGER {name}"), []).unwrap();
        }
        assert!(raw.execute(sql, []).unwrap() > 0, "{sql}");
    }
}

/// A number that an environment variable may set.
pub(crate) fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}
