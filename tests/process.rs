//! This test program as another process: how tests start it, stop it and talk to it.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
use serde::{Serialize, de::DeserializeOwned};

const ORDERS: &str = "MACHINE_TEST_ORDERS";

/// The prefix of messages to the parent; the test harness prints to the same stream.
const MARK: char = '@';

/// The child's message where it is to be frozen.
const FREEZE: &str = "freeze me here";

/// After this time a test does not hang but fails.
pub(crate) const STUCK: Duration = Duration::from_mins(1);

/// A child process. It is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    /// Its lines.
    says: Receiver<String>,
    hears: ChildStdin,
}

impl Process {
    /// Runs the test `name` of this program, with orders for [`orders`].
    pub(crate) fn start(name: &str, orders: &impl Serialize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", name, "--nocapture", "--test-threads=1"])
            .env(ORDERS, serde_json::to_string(orders).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (line, says) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            // It ends with the child, or when the receiver is gone.
            out.lines().map_while(Result::ok).try_for_each(|said| line.send(said))
        });
        let hears = child.stdin.take().unwrap();
        Self { child, says, hears }
    }

    /// The next thing that the child says.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self) -> T {
        let mut heard = Vec::new();
        loop {
            match self.says.recv_timeout(STUCK) {
                Ok(line) => match line.split_once(MARK) {
                    Some((_, said)) => return serde_json::from_str(said).unwrap(),
                    None => heard.push(line),
                },
                Err(RecvTimeoutError::Timeout) => panic!("the child is stuck: {heard:?}"),
                Err(RecvTimeoutError::Disconnected) => panic!("the child has ended: {heard:?}"),
            }
        }
    }

    /// Releases a child that waits with [`wait`].
    pub(crate) fn go(&mut self) {
        self.hears.write_all(b"go\n").unwrap();
    }

    /// Tells the child something, for [`heard`].
    #[allow(dead_code, reason = "only the tests of `effects` need it")]
    pub(crate) fn tell(&mut self, what: &impl Serialize) {
        let line = format!("{}\n", serde_json::to_string(what).unwrap());
        self.hears.write_all(line.as_bytes()).unwrap();
    }

    /// Stops the child with SIGSTOP, as soon as it is in [`freeze`].
    pub(crate) fn freeze(&mut self) {
        assert_eq!(self.hear::<String>(), FREEZE);
        kill_process(self.pid(), Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    /// Lets a frozen child continue.
    pub(crate) fn thaw(&mut self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
        self.go();
    }

    /// Kills the child with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the child has ended by itself, without an error.
    pub(crate) fn join(mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// Waits until the child has ended; whether that was by itself, without an error.
    #[allow(dead_code, reason = "only the tests of `worker` need it")]
    pub(crate) fn ended_well(mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    /// Waits until the child has ended in some other way: by [`die`], or with a panic.
    pub(crate) fn wait_until_dead(mut self) {
        assert!(!self.child.wait().unwrap().success());
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
    let orders = std::env::var(ORDERS).expect("another test runs this one");
    serde_json::from_str(&orders).unwrap()
}

/// Says something to the parent, in one write.
pub(crate) fn say(what: &impl Serialize) {
    let line = format!("{MARK}{}\n", serde_json::to_string(what).unwrap());
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Waits for [`Process::go`].
pub(crate) fn wait() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Waits for [`Process::tell`].
#[allow(dead_code, reason = "only the tests of `effects` need it")]
pub(crate) fn heard<T: DeserializeOwned>() -> T {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// Blocks this thread until the parent has stopped the process and let it continue. The parent sends
/// the signal, because a thread that stops its own process may run for a moment.
pub(crate) fn freeze() {
    say(&FREEZE);
    wait();
}

/// Ends this process with SIGKILL.
pub(crate) fn die() {
    kill_process(getpid(), Signal::KILL).unwrap();
    // No thread of this process returns to the test.
    std::thread::park();
}
