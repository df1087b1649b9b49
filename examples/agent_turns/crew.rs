//! The worker processes: this program, started again.

use std::{
    env, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::ensure;

use crate::say;

/// The number of workers.
const WORKERS: usize = 3;

/// The workers. They are killed when this is dropped.
pub struct Crew {
    folder: PathBuf,
    web: SocketAddr,
    workers: Vec<Child>,
}

impl Crew {
    /// Starts the workers, and says how to kill and freeze them.
    pub fn start(folder: &Path, web: SocketAddr) -> io::Result<Self> {
        let mut crew = Self { folder: folder.to_owned(), web, workers: Vec::new() };
        for _ in 0..WORKERS {
            let worker = crew.worker()?;
            crew.workers.push(worker);
        }
        Ok(crew)
    }

    /// Starts another worker in the place of each that was killed.
    pub fn fill(&mut self) -> anyhow::Result<()> {
        for place in 0..self.workers.len() {
            let Some(status) = self.workers[place].try_wait()? else { continue };
            let ended = self.workers[place].id();
            ensure!(status.code().is_none(), "worker {ended} has ended: {status}");
            say(format_args!("worker {ended} has ended: {status}; another one starts"));
            self.workers[place] = self.worker()?;
        }
        Ok(())
    }

    fn worker(&self) -> io::Result<Child> {
        let mut worker = Command::new(env::current_exe()?);
        worker.arg("work").arg(&self.folder).arg(self.web.to_string());
        // It ends when this process has ended, and with it the pipe.
        let worker = worker.stdin(Stdio::piped()).spawn()?;
        let id = worker.id();
        say(format_args!("  kill -KILL {id}   kill -STOP {id}   kill -CONT {id}"));
        Ok(worker)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}
