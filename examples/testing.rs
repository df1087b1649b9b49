//! Helpers for the tests of several programs: processes, and random numbers that a seed repeats.

#![allow(dead_code, reason = "no program needs all of it")]

use std::{
    env,
    io::Read,
    ops::{Deref, DerefMut},
    process::{Child, Command, Output},
    time::{Duration, Instant},
};

/// The time after which a test that waits fails instead of hanging.
pub const STUCK: Duration = Duration::from_mins(1);

/// A process that does not outlive a test that fails.
#[derive(Debug)]
pub struct Process(Option<Child>);

impl Process {
    pub fn start(command: &mut Command) -> Self {
        Self(Some(command.spawn().unwrap()))
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

    /// Kills it with SIGKILL.
    pub fn dies(mut self) {
        self.kill().unwrap();
        self.wait().unwrap();
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
            if start.elapsed() > STUCK {
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

/// xorshift64: reproducible for a seed.
pub struct Random(u64);

impl Random {
    /// Numbers of their own for each round.
    pub fn new(seed: u64, round: u64) -> Self {
        Self((seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }

    pub fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// The seed of a run, which `CRASH_SEED` sets.
pub fn seed() -> u64 {
    number("CRASH_SEED", 0x2545_f491_4f6c_dd1d)
}

/// A number from the environment.
pub fn number(variable: &str, usual: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number"))
        }
        Err(_) => usual,
    }
}
