//! A model behind a server on loopback, whose replies are recorded.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufRead, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use coding_agent::{
    plan::work::Work,
    planner::{Brief, Planner, Reply, openai::OpenAi},
    workspace::tools::{Lookup, Read},
};
use machine::Id;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    terminal::{TASK, Told, agent, checked},
    testing::{Process, STUCK},
};

pub const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const DONE: &str = "data: [DONE]\n\n";

/// What a server answers to a request.
#[derive(Debug, Clone)]
enum Sent {
    Text(String),
    /// The connection stays open after this.
    Stalls(String),
}

/// A server that has these replies and no others. It keeps the bodies of the requests.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    fn start(replies: Vec<Sent>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/v1/", listener.local_addr().unwrap());
        let requests = Arc::default();
        let server = Self { url, requests: Arc::clone(&requests) };
        thread::spawn(move || {
            for (stream, reply) in listener.incoming().flatten().zip(replies) {
                let requests = Arc::clone(&requests);
                thread::spawn(move || serve(&stream, reply, &requests));
            }
        });
        server
    }

    /// Tries a request twice again, at once.
    fn planner(&self, folder: &Path) -> OpenAi {
        self.with(folder, STUCK, &[Duration::ZERO; 2])
    }

    fn with(&self, folder: &Path, patience: Duration, pauses: &[Duration]) -> OpenAi {
        OpenAi { patience, pauses: pauses.to_vec(), ..openai(self.url.clone(), folder) }
    }

    fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, reply: Sent, requests: &Mutex<Vec<Value>>) -> io::Result<()> {
    let (mut writer, mut reader, mut head) = (stream, BufReader::new(stream), String::new());
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let length = head.to_ascii_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.unwrap().trim().parse().unwrap()];
    reader.read_exact(&mut body)?;
    requests.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
    match reply {
        Sent::Text(text) => {
            writer.write_all(text.as_bytes())?;
            stream.shutdown(Shutdown::Write)?;
        }
        Sent::Stalls(text) => writer.write_all(text.as_bytes())?,
    }
    // Until the client closes the connection; an end before that would reset it.
    io::copy(&mut reader, &mut io::sink())?;
    Ok(())
}

/// A planner that asks once.
pub fn openai(url: String, folder: &Path) -> OpenAi {
    let (model, key, folder) = ("small".into(), Some("secret/key".into()), folder.to_owned());
    OpenAi { url, model, key, folder, patience: STUCK, pauses: Vec::new() }
}

pub fn brief(visit: &str) -> Brief {
    let (visit, goal) = (visit.to_owned(), "make it right".to_owned());
    Brief { visit, goal, work: Work::default(), files: vec!["a".parse().unwrap()] }
}

fn event(delta: &Value, reason: &Value) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

/// A piece of a call, or of a text.
fn piece(delta: &Value) -> String {
    event(delta, &Value::Null)
}

fn call(index: usize, id: &str, name: &str, arguments: &str) -> String {
    let function = json!({ "name": name, "arguments": arguments });
    piece(&json!({ "tool_calls": [{ "index": index, "id": id, "function": function }] }))
}

fn more(arguments: &str) -> String {
    let function = json!({ "arguments": arguments });
    piece(&json!({ "tool_calls": [{ "index": 0, "function": function }] }))
}

fn ends(reason: &str) -> String {
    event(&json!({}), &json!(reason))
}

fn asks() -> String {
    call(0, "1", "ask", r#"{"questions": ["which file?"]}"#)
}

fn stream(events: &[String]) -> Sent {
    Sent::Text(format!("{STREAM}{}", events.concat()))
}

fn good() -> Sent {
    stream(&[asks(), ends("tool_calls"), DONE.to_owned()])
}

fn status(head: &str) -> Sent {
    Sent::Text(format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbusy"))
}

/// What comes of it: the question, why the answers cannot be used, or why there is none.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Asked,
    Useless(&'static str),
    Failed(&'static str),
}

use Ending::{Asked, Failed, Useless};

fn check(what: &str, reply: Reply<Vec<String>>, ending: Ending) {
    match (reply, ending) {
        (Ok(Ok(questions)), Asked) => assert_eq!(questions, ["which file?"], "{what}"),
        (Ok(Err(trouble)), Useless(why)) => {
            assert!(trouble.to_string().starts_with("E_MODEL: "), "{what}: {trouble}");
            assert!(trouble.detail.contains(why), "{what}: {trouble:?}");
        }
        (Err(failure), Failed(why)) => {
            assert!(failure.to_string().contains(why), "{what}: {failure}");
        }
        (reply, _) => panic!("{what}: {reply:?}"),
    }
}

/// Runs each row: the name, the replies of the server, the end, and how many requests it takes.
async fn run(rows: impl IntoIterator<Item = (&'static str, Vec<Sent>, Ending, usize)>) {
    for (what, replies, ending, count) in rows {
        let (folder, server) = (TempDir::new().unwrap(), Server::start(replies));
        let planner = server.planner(folder.path());
        check(what, planner.questions(&brief("visit")).await, ending);
        let requests = server.requests();
        assert_eq!(requests.len(), count, "{what}");
        let messages = requests.last().unwrap()["messages"].as_array().unwrap();
        // Servers refuse calls and ids that models make up, so none is sent back.
        let roles: Vec<&Value> = messages.iter().map(|it| &it["role"]).collect();
        assert_eq!(roles, ["system", "user"], "{what}: {messages:?}");
        let prompt = messages[1]["content"].as_str().unwrap();
        let told = prompt.matches("Your answer cannot be used: ").count();
        assert!(told == 2 || !matches!(ending, Useless(_)), "{what}: {prompt}");
        for file in fs::read_dir(folder.path()).unwrap() {
            let kept = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!kept.contains("secret"), "{what}: {kept}");
        }
    }
}

#[tokio::test]
async fn what_servers_really_send() {
    let done = || DONE.to_owned();
    let text = |text: &str| piece(&json!({ "content": text }));
    let says = |text_of: &str| stream(&[text(text_of), ends("stop"), done()]);
    let calls = |name: &str, arguments: &str| {
        stream(&[call(0, "1", name, arguments), ends("tool_calls"), done()])
    };
    let repeats = || stream(&[asks(), call(1, "1", "ask", "{}"), ends("tool_calls"), done()]);
    let error = r#"data: {"error": {"message": "overloaded"}}"#.to_owned() + "\n\n";
    let echo = "HTTP/1.1 401 No\r\nconnection: close\r\n\r\nunknown: secret\\/key.".to_owned();
    let leak = r#"data: {"error": "unknown: secret/key."}"#.to_owned() + "\n\n";
    let split = [call(0, "1", "ask", r#"{"secret"#), more(r#"/key": 1}"#), done()];
    let long = STREAM.replace("\r\n\r\n", "\r\ncontent-length: 9999\r\n\r\n");
    let pieces = [
        text("Let me think."),
        call(0, "1", "ask", ""),
        more(r#"{"questions": ["whi"#),
        more(r#"ch file?"]}"#),
        ends("tool_calls"),
        format!("data: {}\n\n", json!({ "choices": [], "usage": { "total_tokens": 7 } })),
        done(),
    ];
    let odd = [
        ": processing\r\n\r\nevent: message\r\n".to_owned(),
        asks().replace('\n', "\r\n"),
        "data:\r\n\r\n".to_owned(),
        format!("data:{}\r\n\r\n", json!({ "choices": [], "usage": {} })),
        ends("eos_token"),
    ];
    // The call has no index, and each piece repeats its id and its name.
    let again = |arguments: &str| {
        let function = json!({ "name": "ask", "arguments": arguments });
        piece(&json!({ "tool_calls": [{ "id": "1", "function": function }] }))
    };
    let object = json!({ "name": "ask", "arguments": { "questions": ["which file?"] } });
    let many: Vec<_> = (0..99).map(|index| call(index, "1", "ask", "{}")).collect();
    let much = json!({ "questions": vec!["which file?"; 201] }).to_string();
    let rows = [
        ("in pieces", vec![stream(&pieces)], Asked, 1),
        ("odd lines, empty usage, an unknown reason, no end", vec![stream(&odd)], Asked, 1),
        ("an empty reason", vec![stream(&[asks(), ends(""), done()])], Asked, 1),
        (
            "repeated names",
            vec![stream(&[again(r#"{"questions": ["#), again(r#""which file?"]}"#), done()])],
            Asked,
            1,
        ),
        (
            "arguments that are no text",
            vec![stream(&[piece(&json!({ "tool_calls": [{ "function": object }] })), done()])],
            Asked,
            1,
        ),
        ("no reason and no end", vec![stream(&[asks(), ends("")]), good()], Asked, 2),
        ("a malformed event", vec![stream(&[asks(), "data: {\n\n".into()]), good()], Asked, 2),
        ("an error in the stream", vec![stream(&[asks(), error]), good()], Asked, 2),
        ("cut in an event", vec![stream(&[asks()[..40].to_owned()]), good()], Asked, 2),
        ("cut in its length", vec![Sent::Text(format!("{long}{}", asks())), good()], Asked, 2),
        ("an error, then good", vec![status("500 Oh"), good()], Asked, 2),
        ("errors", vec![status("503 Oh"), status("502 Oh"), status("500 Oh")], Failed("500"), 3),
        ("a wrong key", vec![status("401 Unauthorized")], Failed("401"), 1),
        ("a key that is sent back", vec![Sent::Text(echo)], Failed("unknown: (the key)."), 1),
        ("one in a stream", vec![stream(&[leak]); 3], Failed("unknown: (the key)."), 3),
        ("one in a call", vec![stream(&split); 3], Useless("unknown field `(the key)`"), 3),
        ("busy for long", vec![status("429 Busy\r\nretry-after: 9999")], Failed("429"), 1),
        ("text", vec![says("What?"), good()], Asked, 2),
        ("another schema", vec![calls("ask", r#"{"questions": "a"}"#), good()], Asked, 2),
        ("an unknown tool", vec![calls("shell", "{}"), good()], Asked, 2),
        ("a long name", vec![calls(&"x".repeat(99_999), "{}"); 3], Useless("are left out)"), 3),
        ("too much", vec![calls("ask", &much); 3], Useless("201 items: give at most 200"), 3),
        ("repeated ids", vec![repeats(), good()], Asked, 2),
        ("many calls", vec![stream(&[many.concat(), done()]), good()], Asked, 2),
        ("too long", vec![stream(&[asks(), ends("length")]), good()], Asked, 2),
        ("nonsense twice", vec![calls("ask", "which?"), repeats(), good()], Asked, 3),
        (
            "nonsense three times",
            vec![says(""), calls("ask", "["), calls("rm", "{}")],
            Useless("unknown tool `rm`: call `ask` once"),
            3,
        ),
    ];
    run(rows).await;
}

#[tokio::test]
async fn answers_that_are_not_streamed() {
    let typed = |kind: &str, body: &str| {
        Sent::Text(format!("{}{body}", STREAM.replace("text/event-stream", kind)))
    };
    let named = typed("Text/Event-Stream; charset=utf-8", &[asks(), DONE.to_owned()].concat());
    let json = |body: &Value| typed("application/json", &body.to_string());
    let function = json!({ "name": "ask", "arguments": r#"{"questions": ["which file?"]}"# });
    let called = json!([{ "id": "1", "type": "function", "function": function }]);
    let whole = |message: &Value, reason: &str| {
        let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
        json(&json!({ "choices": [choice], "usage": { "total_tokens": 7 } }))
    };
    let message = json!({ "content": null, "tool_calls": called });
    let cut = STREAM.replace("text/event-stream", "application/json\r\ncontent-length: 9999");
    let empty = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned();
    let rows = [
        ("another name of the type", vec![named], Asked, 1),
        ("no stream", vec![whole(&message, "tool_calls")], Asked, 1),
        ("a text, whole", vec![whole(&json!({ "content": "What?" }), "stop"), good()], Asked, 2),
        ("too long, whole", vec![whole(&message, "length"), good()], Asked, 2),
        ("cut, whole", vec![Sent::Text(format!("{cut}{{")), good()], Asked, 2),
        ("other JSON", vec![json(&json!(["secret/key."]))], Failed("it answers 200 OK: ["), 1),
        ("a page", vec![typed("text/html", "<p>secret/key.")], Failed("OK: <p>(the key)."), 1),
        ("nothing", vec![Sent::Text(empty)], Failed("not stream"), 1),
    ];
    run(rows).await;
}

/// A failure that lasts ends the program, with its reason. After another the worker asks again, as
/// the program says.
#[test]
fn a_failure_is_told_or_tried_again() {
    let busy = || status("503 Busy\r\nretry-after: 0");
    let denied = || status("401 Denied");
    let echo = "HTTP/1.1 401 No\r\nconnection: close\r\n\r\nunknown: secret/key.".to_owned();
    for (replies, code, count) in [
        (vec![denied(), good()], 1, 1),
        (vec![Sent::Text(echo)], 1, 1),
        (vec![status("302 Found\r\nlocation: http://127.0.0.1:1/"), good()], 1, 1),
        (vec![busy(), busy(), busy(), good()], 3, 4),
        (vec![busy(), busy(), busy(), denied()], 1, 4),
    ] {
        let told = format!("{replies:?}");
        let (desk, server) = (checked(), Server::start(replies));
        let mut agent = agent(&desk, &["do", TASK]);
        agent.env("CODING_AGENT_URL", &server.url).env("CODING_AGENT_MODEL", "small");
        agent.env("OPENAI_API_KEY", " secret/key ");
        let ended = Told::of(Process::start(&mut agent));
        assert_eq!(ended.code, code, "{told}: {:?} {}", ended.events, ended.errors);
        assert_eq!(server.requests().len(), count, "{told}");
        assert!(!ended.errors.contains("secret"), "{}", ended.errors);
        if code == 1 {
            let trace = ended.check_error("E_MODEL", "does not go on: the server answers ");
            assert!(trace.parse::<Id>().is_ok(), "{trace}");
        }
        let is_again = |note: &&Value| note["text"].as_str().unwrap().contains("it is tried again");
        assert_eq!(ended.all("note").into_iter().filter(is_again).count(), usize::from(count > 1));
    }
}

#[tokio::test]
async fn a_stall_has_a_limit() {
    let folder = TempDir::new().unwrap();
    let stalls = vec![Sent::Stalls(format!("{STREAM}{}", asks())); 2];
    let server = Server::start(stalls);
    let patience = Duration::from_millis(100);
    let planner = server.with(folder.path(), patience, &[Duration::ZERO]);
    planner.questions(&brief("visit")).await.unwrap_err();
}

#[tokio::test]
async fn a_busy_server_says_when_to_come_back() {
    let folder = TempDir::new().unwrap();
    let busy = status("429 Busy\r\nretry-after: 0");
    let server = Server::start(vec![busy, good()]);
    let planner = server.with(folder.path(), STUCK, &[10 * STUCK]);
    let question = brief("visit");
    let reply = tokio::time::timeout(STUCK, planner.questions(&question)).await.unwrap();
    check("busy", reply, Asked);
}

#[tokio::test]
async fn an_answer_is_bought_once() {
    let folder = TempDir::new().unwrap();
    let bad = stream(&[ends("stop"), DONE.to_owned()]);
    let server = Server::start(vec![bad, good(), good()]);
    // The second planner is that of a process that took the place of the first.
    for _ in 0..2 {
        let planner = server.planner(folder.path());
        check("one visit", planner.questions(&brief("visit")).await, Asked);
        assert_eq!(server.requests().len(), 2);
    }
    let planner = server.planner(folder.path());
    check("another visit", planner.questions(&brief("another")).await, Asked);
    assert_eq!(server.requests().len(), 3);
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 3);
    for file in files {
        let kept: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
        assert!(kept.get("usage").is_some(), "{kept}");
    }
}

#[tokio::test]
async fn what_is_left_out_is_said() {
    let (folder, server) = (TempDir::new().unwrap(), Server::start(vec![good()]));
    let mut brief = brief("visit");
    for path in ["old", "new"] {
        let tool = Read { path: path.parse().unwrap(), from: None, lines: None };
        brief.work.know(Lookup::Read(tool), Ok(format!("text of {path}")), 15);
    }
    check("long", server.planner(folder.path()).questions(&brief).await, Asked);
    let requests = server.requests();
    let prompt = requests[0]["messages"][1]["content"].as_str().unwrap();
    assert!(prompt.contains("text of new") && !prompt.contains("text of old"), "{prompt}");
    assert!(prompt.contains("left out, for lack of space: old"), "{prompt}");
    let left_out = brief.work.summary(None).left_out;
    assert_eq!(left_out, BTreeSet::from(["old".to_owned()]));
}
