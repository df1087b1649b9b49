//! Processes of the program.

use std::{
    io::Read,
    ops::{Deref, DerefMut},
    process::{Child, Command, Output},
    time::{Duration, Instant},
};

/// A process that does not outlive a test that fails.
#[derive(Debug)]
pub struct Process(Option<Child>);

impl Process {
    pub fn start(command: &mut Command) -> Self {
        Self(Some(command.spawn().unwrap()))
    }

    /// Waits until it has printed a line.
    pub fn wait_for_line(&mut self) {
        let stdout = self.stdout.as_mut().unwrap();
        let mut byte = [0];
        while byte != *b"\n" {
            stdout.read_exact(&mut byte).unwrap();
        }
    }

    /// Waits until it has printed a line with this text.
    pub fn wait_for_text(&mut self, text: &str) {
        let stdout = self.stdout.as_mut().unwrap();
        let (mut byte, mut line) = ([0], Vec::new());
        while !String::from_utf8_lossy(&line).contains(text) {
            if byte == *b"\n" {
                line.clear();
            }
            stdout.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
    }

    /// Asks it to end.
    pub fn stop(self) -> Output {
        self.signal("TERM");
        self.ended()
    }

    /// Waits for its end.
    pub fn ended(mut self) -> Output {
        let start = Instant::now();
        while self.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(30) {
                self.kill().unwrap();
                panic!("it does not end: {:?}", self.output());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.output()
    }

    fn output(&mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }

    pub fn signal(&self, name: &str) {
        signal(self.id(), name);
    }
}

impl Deref for Process {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sends a signal to a child that was not waited for. `sh` has a `kill` on every Unix.
pub fn signal(process: u32, name: &str) {
    let kill = format!("kill -{name} {process}");
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success(), "{kill}");
}
