//! A test program as another process: how tests start it, stop it and talk to it.

use std::{
    fs,
    io::{BufRead, BufReader, ErrorKind, Write},
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitOptions, geteuid, getpid, kill_process, waitpid};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::STUCK;

const ORDERS: &str = "MACHINE_TEST_ORDERS";

/// The prefix of messages to the parent; the test harness prints to the same stream.
const MARK: char = '@';

/// The child's message where it is to be frozen.
const FREEZE: &str = "freeze me here";

/// A child process. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Its lines.
    says: Receiver<String>,
    hears: ChildStdin,
}

/// A command that runs the test `name` of this program, with orders for [`orders`].
pub fn command(name: &str, orders: &impl Serialize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", name, "--nocapture", "--test-threads=1"])
        .env(ORDERS, serde_json::to_string(orders).unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

impl Process {
    /// Starts a [`command`].
    pub fn start(name: &str, orders: &impl Serialize) -> Self {
        Self::of(command(name, orders).spawn().unwrap())
    }

    /// The child that a [`command`] has started.
    #[must_use]
    pub fn of(mut child: Child) -> Self {
        let (line, says) = channel();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            loop {
                let mut said = String::new();
                // A child that is killed in the middle of a line has not said it.
                let is_whole = out.read_line(&mut said).is_ok() && said.ends_with('\n');
                // The receiver may be gone.
                if !is_whole || line.send(said).is_err() {
                    return;
                }
            }
        });
        let hears = child.stdin.take().unwrap();
        Self { child, says, hears }
    }

    /// The next thing that the child says.
    pub fn hear<T: DeserializeOwned>(&mut self) -> T {
        self.next().unwrap_or_else(|heard| panic!("the child has ended: {heard:?}"))
    }

    /// The next thing that the child says; `None` if it has ended.
    pub fn hear_until_end<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.next().ok()
    }

    /// The message of the child, or everything that it has printed until its end.
    fn next<T: DeserializeOwned>(&mut self) -> Result<T, Vec<String>> {
        let mut heard = Vec::new();
        loop {
            match self.says.recv_timeout(STUCK) {
                Ok(line) => match line.split_once(MARK) {
                    Some((_, said)) => return Ok(serde_json::from_str(said).unwrap()),
                    None => heard.push(line),
                },
                Err(RecvTimeoutError::Timeout) => panic!("the child is stuck: {heard:?}"),
                Err(RecvTimeoutError::Disconnected) => return Err(heard),
            }
        }
    }

    /// Releases a child that waits with [`wait`].
    pub fn go(&mut self) {
        self.hears.write_all(b"go\n").unwrap();
    }

    /// Tells the child something, for [`heard`].
    pub fn tell(&mut self, what: &impl Serialize) {
        let line = format!("{}\n", serde_json::to_string(what).unwrap());
        self.hears.write_all(line.as_bytes()).unwrap();
    }

    /// Stops the child with SIGSTOP, as soon as it is in [`freeze`].
    pub fn freeze(&mut self) {
        assert_eq!(self.hear::<String>(), FREEZE);
        self.stop();
    }

    /// Stops the child as [`Process::freeze`] does, [`between_commits`] to this file.
    pub fn freeze_between_commits(&mut self, file: &Path) {
        assert_eq!(self.hear::<String>(), FREEZE);
        between_commits(file, || self.stop());
    }

    /// Stops the child with SIGSTOP, wherever it is.
    pub fn stop(&self) {
        kill_process(self.pid(), Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    /// Lets a frozen child continue.
    pub fn thaw(&mut self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
        self.go();
    }

    /// Kills the child with SIGKILL, if it has not ended. What it said can still be heard.
    pub fn cut_short(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills the child with SIGKILL.
    pub fn kill(mut self) {
        self.cut_short();
    }

    /// Waits until the child has ended.
    pub fn ended(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Waits until the child has ended; whether that was by itself, without an error.
    #[must_use]
    pub fn ended_well(mut self) -> bool {
        self.ended().success()
    }

    /// Waits until the child exits without an error.
    pub fn join(mut self) {
        assert!(self.ended().success());
    }

    /// Waits until the child has ended in some other way: by [`die`], or with a panic.
    pub fn wait_until_dead(mut self) {
        assert!(!self.ended().success());
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
#[must_use]
pub fn orders<T: DeserializeOwned>() -> T {
    let orders = std::env::var(ORDERS).expect("another test runs this one");
    serde_json::from_str(&orders).unwrap()
}

/// Says something to the parent, in one write.
pub fn say(what: &impl Serialize) {
    let line = format!("{MARK}{}\n", serde_json::to_string(what).unwrap());
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Waits for [`Process::go`].
pub fn wait() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Waits for [`Process::tell`].
#[must_use]
pub fn heard<T: DeserializeOwned>() -> T {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// Blocks this thread until the parent has stopped the process and let it continue. The parent
/// sends the signal, because a thread that stops its own process may run for a moment.
pub fn freeze() {
    say(&FREEZE);
    wait();
}

/// Stops a process by `stop` while none of its threads, such as that of a heartbeat, is in a commit
/// to this file: frozen, it would keep the lock of writers, and no other process could write.
pub fn between_commits<T>(file: &Path, stop: impl FnOnce() -> T) -> T {
    let raw = rusqlite::Connection::open(file).unwrap();
    raw.busy_timeout(STUCK).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let stopped = stop();
    raw.execute_batch("ROLLBACK").unwrap();
    stopped
}

/// Ends this process with SIGKILL.
pub fn die() {
    kill_process(getpid(), Signal::KILL).unwrap();
    // No thread of this process returns to the test.
    std::thread::park();
}

/// The act of a child at a fail point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// It [dies](die).
    Kill,
    /// It [freezes](freeze).
    Freeze,
}

impl Act {
    /// Does it in this process when it passes the fail point, once it has passed it `before` times.
    pub fn at(self, point: &str, before: usize) {
        let passed = AtomicUsize::new(0);
        let act = move || {
            if passed.fetch_add(1, Ordering::SeqCst) == before {
                match self {
                    Self::Kill => die(),
                    Self::Freeze => freeze(),
                }
            }
        };
        fail::cfg_callback(point, act).unwrap();
    }
}

/// A folder for temporary files that every user can reach: the usual one or, where other users
/// cannot enter it, one of the system's. `None` where there is none, and a line that says so.
#[must_use]
pub fn temporary_folder_for_all() -> Option<PathBuf> {
    let folders = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let reachable =
        folders.iter().filter_map(|folder| fs::canonicalize(folder).ok()).find(|folder| {
            folder
                .ancestors()
                .all(|folder| fs::metadata(folder).is_ok_and(|it| it.mode() & 0o001 != 0))
        });
    if reachable.is_none() {
        eprintln!("skipped: needs a folder for temporary files that every user can enter");
    }
    reachable
}

/// Starts a program as a user whom permissions of files bind: root becomes `nobody`. `None` where
/// this process may not switch to that user, and a line that says so.
pub fn start_unprivileged(command: &mut Command) -> Option<Child> {
    const NOBODY: u32 = 65_534;
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
    }
    loop {
        match command.spawn() {
            Ok(child) => return Some(child),
            // A child of another test that has not replaced itself yet has the program open for
            // writing.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                eprintln!("skipped: needs the right to start a process as another user ({error})");
                return None;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Kills a process that is not a child.
pub fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
}
