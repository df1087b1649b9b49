//! Processes of the program.

use std::{
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

    /// Asks it to end, and waits for that. `sh` has a `kill` on every Unix.
    pub fn stop(mut self) -> Output {
        let kill = format!("kill -TERM {}", self.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let start = Instant::now();
        while self.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(30), "it does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
        self.0.take().unwrap().wait_with_output().unwrap()
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
