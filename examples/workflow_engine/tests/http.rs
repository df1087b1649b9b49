//! A person in a browser: sees everything in real time, and decides over HTTP.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{
    site::Site,
    testing::{Process, STUCK},
};

/// An engine and a server on one database.
struct Office {
    site: Site,
    address: String,
    token: String,
    #[allow(dead_code, reason = "they run as long as the office is open")]
    processes: [Process; 2],
}

impl Office {
    fn open() -> Self {
        let site = Site::new(&[("invoice.txt", "500")]);
        // The server does not create the database.
        site.ok(&["run", "--once"]);
        let serve = ["serve", "--as", "ann", "--listen", "127.0.0.1:0"];
        let mut server = Process::start(&mut site.command(&serve));
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (page, token) = line.trim().split_once("/inspector/#token=").unwrap();
        let address = page.strip_prefix("http://").unwrap().to_owned();
        let processes = [server, site.start()];
        Self { site, address, token: token.to_owned(), processes }
    }

    /// Submits a task; returns its engine.
    fn submit(&self, goal: &str) -> String {
        let [_, engine] = self.site.submit(goal);
        engine
    }

    /// The moves of machines, from now on.
    fn events(&self) -> impl Iterator<Item = String> {
        let stream = self.ask("GET", "/api/events?events=machine_state", &self.token(), "");
        let mut events = BufReader::new(stream).lines().map_while(Result::ok);
        assert!(events.next().unwrap().contains("200"));
        events
    }

    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(STUCK)).unwrap();
        let (address, length) = (&self.address, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{token}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn token(&self) -> String {
        format!("Authorization: Bearer {}\r\n", self.token)
    }

    /// The status and the document of an answer.
    fn call(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
        let mut answer = String::new();
        self.ask(method, path, token, body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    /// An engine as people see it.
    fn shown(&self, engine: &str) -> Value {
        let (status, mut shown) = self.call("GET", &format!("/api/machines/{engine}"), "", "");
        assert_eq!(status, 200);
        shown["machine"].take()
    }

    fn send(&self, engine: &str, token: &str, event: &Value) -> (u16, Value) {
        let path = format!("/api/machines/{engine}/send");
        self.call("POST", &path, token, &event.to_string())
    }
}

/// Waits until a machine comes into this state.
fn until(events: &mut impl Iterator<Item = String>, id: &str, status: &str) {
    let is_it = |line: &String| {
        let data = line.strip_prefix("data:").map(str::trim);
        let data: Option<Value> = data.and_then(|data| serde_json::from_str(data).ok());
        data.is_some_and(|data| data["id"] == id && data["to_status"] == status)
    };
    assert!(events.any(|line| is_it(&line)), "{id} does not come into {status}");
}

#[test]
fn told_in_real_time_and_decides() {
    let office = Office::open();
    let token = office.token();
    let mut events = office.events();

    let engine = office.submit("pay the invoice");
    until(&mut events, &engine, "manual_intervention");
    let shown = office.shown(&engine);
    let (state, seen) = (&shown["state"], &shown["transition_count"]);
    assert_eq!(state["reason"], "sensitive_action");
    assert_eq!(state["explanation"], "500 is more than the limit of 100");
    assert_eq!(state["proposed_action"], "pay: bank.pay(amount: 500, to: bob)");
    assert_eq!(state["history"], json!(["files.read → invoice.txt: 500"]));
    assert_ne!(state["reasoning"], "");
    assert!(state.get("work").is_none());
    let (_, attention) = office.call("GET", "/api/attention", "", "");
    let concern = &attention["concerns"][0];
    assert_eq!((&concern["id"], &concern["reason"]), (&json!(engine), &json!("waits_for_person")));
    let triggers: Vec<_> =
        concern["next"].as_array().unwrap().iter().map(|it| &it["trigger"]).collect();
    assert_eq!(triggers, ["user_resume", "user_modify", "user_terminate"]);
    assert_eq!(&concern["next"][0]["seen"], seen);

    // Only who has a token, and only what people may do.
    let resume = json!({ "trigger": "user_resume", "seen": seen });
    assert_eq!(office.send(&engine, "", &resume).0, 401);
    let (status, problem) = office.send(&engine, &token, &json!({ "trigger": "plan_ready" }));
    assert_eq!(status, 409, "{problem}");
    assert_eq!(office.site.file("bank.txt"), "");

    assert_eq!(office.send(&engine, &token, &resume).0, 202);
    until(&mut events, &engine, "completed");

    let engine = office.submit("clean up");
    until(&mut events, &engine, "manual_intervention");
    let terminate = json!({ "trigger": "user_terminate", "payload": { "why": "no" } });
    assert_eq!(office.send(&engine, &token, &terminate).0, 202);
    until(&mut events, &engine, "terminated");
    until(&mut events, &engine, "idle");
}
