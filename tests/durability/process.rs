//! This test program as another process: how tests start it, and what the child reads and says.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
use serde::{Serialize, de::DeserializeOwned};

const ORDERS: &str = "MACHINE_TEST_ORDERS";

/// The prefix of messages to the parent; the test harness prints to the same stream.
const MARK: char = '@';

/// A child process and its output. It is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Process {
    /// Runs the test `name` of this program, with orders for [`orders`].
    pub(crate) fn start(name: &str, orders: &impl Serialize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--include-ignored", "--exact", name, "--nocapture", "--test-threads=1"])
            .env(ORDERS, serde_json::to_string(orders).unwrap())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Self { child, says }
    }

    /// The next thing that the child says; `None` if it has ended.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self) -> Option<T> {
        loop {
            let mut line = String::new();
            self.says.read_line(&mut line).unwrap();
            if !line.ends_with('\n') {
                // The child was killed in the middle of a line, or has ended.
                return None;
            }
            if let Some((_, said)) = line.split_once(MARK) {
                return Some(serde_json::from_str(said).unwrap());
            }
        }
    }

    /// Like [`hear`](Self::hear), for a child that must have something to say.
    pub(crate) fn must_say<T: DeserializeOwned>(&mut self) -> T {
        self.hear().expect("the child ended too early")
    }

    /// Waits until the child has stopped itself with [`freeze`].
    pub(crate) fn wait_until_frozen(&self) {
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    /// Stops the child with SIGSTOP, wherever it is.
    pub(crate) fn stop(&self) {
        kill_process(self.pid(), Signal::STOP).unwrap();
        self.wait_until_frozen();
    }

    /// Lets a frozen child continue.
    pub(crate) fn thaw(&self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
    }

    /// Kills the child with SIGKILL, if it has not ended.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    pub(crate) fn join(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The orders of the parent.
pub(crate) fn orders<T: DeserializeOwned>() -> T {
    let orders = std::env::var(ORDERS).expect("this test is run by another one");
    serde_json::from_str(&orders).unwrap()
}

/// Says something to the parent, in one write.
pub(crate) fn say(what: &impl Serialize) {
    let line = format!("{MARK}{}\n", serde_json::to_string(what).unwrap());
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Ends this process with SIGKILL.
pub(crate) fn die() {
    kill_process(getpid(), Signal::KILL).unwrap();
    // No thread of this process returns to the test.
    std::thread::park();
}

/// Stops this process with SIGSTOP until the parent lets it continue.
pub(crate) fn freeze() {
    kill_process(getpid(), Signal::STOP).unwrap();
    // The main thread gets the signal first, and this thread could run on for a moment.
    std::thread::sleep(std::time::Duration::from_millis(100));
}

/// Runs a test in a separate process, because fail points concern every store of a process.
pub(crate) fn alone(name: &str, test: impl AsyncFnOnce()) {
    if machine_tests::is_alone(name) {
        crate::support::block_on(test());
    }
}

/// A file in a new folder.
pub(crate) fn new_file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = path_in(folder.path());
    (folder, file)
}

pub(crate) fn path_in(folder: &Path) -> PathBuf {
    folder.join("agent.db")
}
