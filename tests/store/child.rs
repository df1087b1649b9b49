//! Runs this test program as another process: the child's tests, and how they are started.

use machine_tests::actors::tool_node;
use std::{
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use machine::{Id, store::Store};
use machine_tests::samples::Ticket;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::store::support::{applied, begin, pending};

/// A child process and its output.
pub(crate) struct Other {
    child: Child,
    says: BufReader<ChildStdout>,
}

/// A command that runs the test `name` of this program in its own process.
pub(crate) fn command(program: &Path, name: &str, database: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--ignored", "--exact", name, "--nocapture", "--test-threads=1"])
        .env("MACHINE_TEST_FILE", database)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

impl Other {
    pub(crate) fn start(name: &str, database: &Path, ids: &[Id]) -> Self {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let mut command = command(&std::env::current_exe().unwrap(), name, database);
        let mut child = command.env("MACHINE_TEST_IDS", ids.join(",")).spawn().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Self { child, says }
    }

    /// Waits until the child prints `word`; the test harness prints to the same stream.
    pub(crate) fn wait_for(&mut self, word: &str) -> String {
        let mut heard = String::new();
        loop {
            let mut line = String::new();
            assert!(self.says.read_line(&mut line).unwrap() > 0, "no `{word}` in: {heard}");
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
            heard += &line;
        }
    }

    /// Lets the child continue.
    pub(crate) fn go(&mut self) {
        self.child.stdin.take().unwrap().write_all(b"go").unwrap();
    }

    /// Freezes the child with SIGSTOP, and waits until it is.
    pub(crate) fn freeze(&mut self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    /// Kills the child with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn join(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

/// Kills a process that a child has started.
pub(crate) fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
}

/// Begins `id` in another process and kills it while it holds the permit.
pub(crate) fn begin_and_be_killed(database: &Path, id: Id) {
    let mut other = Other::start("store::child::begins", database, &[id]);
    other.wait_for("begun");
    other.kill();
}

/// Completes `id` in another process and kills it afterwards.
pub(crate) fn settle_and_be_killed(database: &Path, id: Id) {
    let mut other = Other::start("store::child::settles", database, &[id]);
    other.wait_for("settled");
    other.kill();
}

/// The arguments from the parent.
pub(crate) fn given() -> (PathBuf, Vec<Id>) {
    let ids = std::env::var("MACHINE_TEST_IDS").unwrap_or_default();
    let ids = ids.split(',').filter(|id| !id.is_empty()).map(|id| id.parse().unwrap());
    (std::env::var_os("MACHINE_TEST_FILE").unwrap().into(), ids.collect())
}

/// Prints to the parent, bypassing the output capture of the harness.
pub(crate) fn say(text: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{text}").unwrap();
    out.flush().unwrap();
}

/// Waits until the parent lets the child continue, or ends.
pub(crate) fn wait() {
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Ends this process with SIGKILL.
pub(crate) fn die() {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
        .unwrap();
    // No thread of this process returns to the test.
    std::thread::park();
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn begins() {
    let (file, ids) = given();
    let store = Store::sqlite(file).await.unwrap();
    let _kept = begin(&store, pending(&store, ids[0]).await).await.unwrap();
    say("begun");
    wait();
}

/// Recovers while the process can open no file.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn recovers_without_descriptors() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let (file, ids) = given();
    let store = Store::sqlite(&file).await.unwrap();
    // The files that it needs of the database are open.
    assert!(store.recover().await.unwrap().in_doubt.is_empty());
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: Some(200), ..limit }).unwrap();
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    if let Ok(recovered) = store.recover().await {
        assert!(recovered.in_doubt.is_empty(), "{recovered:?}");
        assert_eq!(recovered.failed.len(), 1);
    }
    drop(files);
    let recovered = store.recover().await.unwrap();
    assert!(recovered.in_doubt.is_empty() && recovered.failed.is_empty(), "{recovered:?}");
    assert!(!ids.is_empty());
    say("nothing was parked");
}

/// Keeps what it inherits until it is killed.
#[test]
#[ignore = "other tests run it as another process"]
fn parks() {
    loop {
        std::thread::park();
    }
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn settles() {
    let (file, ids) = given();
    let store = Store::sqlite(file).await.unwrap();
    let (running, permit) = begin(&store, pending(&store, ids[0]).await).await.unwrap();
    let outcome = applied(permit, "sent").await;
    let _ = store.settle(running, outcome, tool_node()).await.unwrap();
    say("settled");
    wait();
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn opens_and_closes() {
    let (file, _) = given();
    Store::sqlite(file).await.unwrap().close().await.unwrap();
}

/// The number of tickets that [`writes`] creates; it parks each of them.
pub(crate) const WRITTEN: usize = 40;

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn writes() {
    let (file, _) = given();
    let store = Store::sqlite(file).await.unwrap();
    say("ready");
    wait();
    for _ in 0..WRITTEN {
        let mut ticket = Ticket::new();
        store.create(&mut ticket).await.unwrap();
        store.commit(&mut ticket.park()).await.unwrap();
    }
    say("written");
}
