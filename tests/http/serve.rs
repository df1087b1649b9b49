//! `machine serve` as a process.
#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Read},
    net::{SocketAddr, TcpListener},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use machine::store::{OpenOptions, Store};
use machine_tests::{samples::asked, stores::new_file};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use crate::surfaces::{Answer, Call, Ran, bare};

/// A process that does not outlive a test that fails.
struct Served {
    child: Child,
    output: BufReader<ChildStdout>,
    address: SocketAddr,
    token: Option<String>,
}

fn start(file: &Path, arguments: &[&str]) -> Served {
    let mut command = bare(&["serve"]);
    Served::of(command.arg(file).args(["--listen", "127.0.0.1:0"]).args(arguments))
}

impl Served {
    /// Starts a server, and reads where it is.
    fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut text = String::new();
            child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("{text}");
        }
        let rest = line.trim().strip_prefix("http://").unwrap();
        let (address, rest) = rest.split_once('/').unwrap();
        let address = address.parse().unwrap();
        let token = rest.strip_prefix("inspector/#token=").map(str::to_owned);
        assert!(token.is_some() || rest == "inspector/", "{line}");
        Self { child, output, address, token }
    }

    fn stop(&mut self, signal: Signal) -> i32 {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap().code().unwrap()
    }

    fn get(&self, path: &str) -> Answer {
        Call::get(path).send(self.address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with a file that has a question in it.
async fn file() -> (TempDir, std::path::PathBuf, machine::Id) {
    let (folder, file) = new_file();
    let store = Store::sqlite(&file).await.unwrap();
    let mut question = asked("Which port?");
    store.create(&mut question).await.unwrap();
    store.close().await.unwrap();
    (folder, file, question.id())
}

fn serve(arguments: &[&str]) -> Ran {
    Ran::of(bare(&["serve"]).args(arguments))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_decides_until_the_server_is_stopped() {
    let (_folder, file, id) = file().await;
    let mut served = start(&file, &["--as", "ann"]);
    let token = served.token.clone().unwrap();
    assert_eq!(token.len(), 64);
    let health = Call::get("/api/health").token(&token).send(served.address).is(200);
    assert_eq!(health["access"], json!({ "role": "operator", "name": "ann" }));
    assert_eq!(health["database"], "agent.db");
    let command = health["command"].as_str().unwrap();
    assert!(command.contains("--db") && command.contains("agent.db"), "{command}");
    let body = json!({ "execution_id": id, "response": "8080" });
    Call::post("/ecs/respond", &body).send(served.address).problem(401, "");
    Call::post("/ecs/respond", &body).token(&token).send(served.address).is(200);
    let body = json!({ "execution_id": id });
    Call::post("/ecs/continue", &body).token(&token).send(served.address).is(200);
    // A stream does not hold it back.
    let address = served.address;
    let mut stream =
        tokio::task::spawn_blocking(move || crate::http::sse::Sse::open(address, "", None))
            .await
            .unwrap();
    assert!(stream.next().unwrap().is_alive());
    assert_eq!(served.stop(Signal::TERM), 0);
    assert_eq!(stream.next(), None);
    // The end of the process after its grace would have cut it.
    assert!(stream.is_whole());
    let mut rest = String::new();
    served.output.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("Ctrl-C"), "{rest}");
    // The write-ahead log is in the file.
    let log = file.with_extension("db-wal");
    assert!(std::fs::metadata(log).map_or(0, |log| log.len()) == 0);
    let store = OpenOptions::new().sqlite(&file).await.unwrap();
    assert!(store.verify_all(|_| ()).await.unwrap().is_clean());
    let question = store.load::<machine::contract::AnyExecution>(id).await.unwrap();
    assert!(matches!(question, machine::contract::AnyExecution::Completed(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_person_it_only_reads() {
    let (_folder, file, id) = file().await;
    let mut served = start(&file, &[]);
    assert_eq!(served.token, None);
    served.get(&format!("/api/machines/{id}")).is(200);
    Call::post(&format!("/api/machines/{id}/cancel"), &json!({}))
        .send(served.address)
        .problem(401, "");
    assert_eq!(served.stop(Signal::INT), 0);
    let mut served = start(&file, &["--tokens-only"]);
    served.get("/api/health").problem(401, "");
    assert_eq!(served.stop(Signal::TERM), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_the_background_ends_by_a_signal() {
    let (_folder, file, _) = file().await;
    // Shells start it with Ctrl-C ignored, and `nohup` with the end of the terminal ignored.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' INT HUP; exec \"$0\" serve \"$1\" --listen 127.0.0.1:0"]);
    shell.arg(env!("CARGO_BIN_EXE_machine-cli")).arg(&file).env_remove("MACHINE_DB");
    let mut served = Served::of(&mut shell);
    kill_process(Pid::from_child(&served.child), Signal::HUP).unwrap();
    served.get("/api/health").is(200);
    assert_eq!(served.stop(Signal::TERM), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_read_from_a_file() {
    let (folder, file, _) = file().await;
    let tokens = folder.path().join("tokens");
    let path = tokens.to_str().unwrap().to_owned();
    std::fs::write(
        &tokens,
        "# people\n\noperator Ann Example 0123456789abcdef\nreader dora fedcba9876543210\n",
    )
    .unwrap();
    let mut served = start(&file, &["--tokens", &path]);
    let mut hint = String::new();
    served.output.read_line(&mut hint).unwrap();
    assert_eq!(hint, "Sign in there with a token.\n");
    let health = Call::get("/api/health").token("0123456789abcdef").send(served.address).is(200);
    assert_eq!(health["access"], json!({ "role": "operator", "name": "Ann Example" }));
    let health = Call::get("/api/health").token("fedcba9876543210").send(served.address).is(200);
    assert_eq!(health["access"], json!({ "role": "reader", "name": "dora" }));
    assert_eq!(served.stop(Signal::TERM), 0);
    let db = file.to_str().unwrap();
    for (line, said) in [
        ("operator ann", "operator NAME TOKEN"),
        ("operator ann short", "at least 12"),
        ("admin ann 0123456789abcdef", "not a role"),
        ("ann", "operator NAME TOKEN"),
        ("operator  0123456789abcdef", "line 3"),
    ] {
        std::fs::write(&tokens, format!("# people\n\n{line}\n")).unwrap();
        let ran = serve(&[db, "--listen", "127.0.0.1:0", "--tokens", &path]);
        ran.failed(2, "line 3");
        ran.failed(2, said);
        assert!(!ran.err.contains("0123456789abcdef"), "{ran:?}");
    }
    serve(&[db, "--tokens", "/nothing/tokens"]).failed(2, "/nothing/tokens");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_others_can_read_are_warned_of() {
    let (folder, file, _) = file().await;
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "operator ann 0123456789abcdef\n").unwrap();
    for (mode, is_warned) in
        [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o620, true)]
    {
        std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut served = start(&file, &["--tokens", tokens.to_str().unwrap()]);
        assert_eq!(served.stop(Signal::TERM), 0);
        let mut said = String::new();
        served.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said.contains("chmod 600"), is_warned, "{mode:o}: {said}");
        assert_eq!(said.contains(tokens.to_str().unwrap()), is_warned, "{said}");
        assert!(!said.contains("0123456789abcdef"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_server_options_are_refused() {
    let (folder, file, _) = file().await;
    let db = file.to_str().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let busy = serve(&[db, "--listen", &address]);
    busy.failed(1, &address);
    busy.failed(1, "--listen");
    for open in ["0.0.0.0:0", "[::]:0", "192.0.2.7:0"] {
        serve(&[db, "--listen", open]).failed(2, "--tokens FILE");
    }
    for wrong in ["localhost", "127.0.0.1", "127.0.0.1:99999", "x"] {
        serve(&[db, "--listen", wrong]).failed(2, "");
    }
    for wrong in ["evil.com:1", "http://good.com/", ""] {
        let ran = serve(&[db, "--listen", "127.0.0.1:0", "--host", wrong]);
        ran.failed(2, "--host");
        ran.failed(2, "without scheme, port");
    }
    let nothing = folder.path().join("nothing.db");
    serve(&[nothing.to_str().unwrap(), "--listen", "127.0.0.1:0"]).failed(5, "");
    assert!(!nothing.exists());
    let text = folder.path().join("text.db");
    std::fs::write(&text, "this is not a database, and long enough to be read as one").unwrap();
    let ran = serve(&[text.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    assert_ne!(ran.code, 0, "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_address_needs_a_token_for_everything() {
    let (_folder, file, _) = file().await;
    let mut command = bare(&["serve"]);
    let mut served = Served::of(command.arg(&file).args(["--listen", "0.0.0.0:0", "--as", "ann"]));
    served.address.set_ip([127, 0, 0, 1].into());
    let token = served.token.clone().unwrap();
    served.get("/api/health").problem(401, "");
    Call::get("/api/health").token(&token).send(served.address).is(200);
    assert_eq!(served.stop(Signal::TERM), 0);
}
