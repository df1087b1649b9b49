//! Workers in other processes: this test program, started again.

mod clerk;
mod letters;
mod log;

use std::{future::Future, time::Duration};

use machine::store::Store;
use rustix::process::{Pid, Signal, kill_process};

pub(crate) use crate::process::{Process, STUCK, orders, say};
pub(crate) use clerk::{Act, Orders, Report};
pub(crate) use letters::{AnyLetter, AnySlip, Letter, Slip, letter, slip};

/// A process that runs a worker.
pub(crate) struct Member {
    pub(crate) process: Process,
    pid: Pid,
}

impl Member {
    /// A process that first says its id.
    pub(crate) fn of(mut process: Process) -> Self {
        let pid = Pid::from_raw(process.hear()).unwrap();
        Self { process, pid }
    }

    /// Asks it to stop, with SIGTERM.
    pub(crate) fn terminate(&self) {
        kill_process(self.pid, Signal::TERM).unwrap();
    }

    /// Asks it to stop, and waits for what it says at the end.
    pub(crate) fn stop(mut self) -> Report {
        self.terminate();
        let report = self.stopped();
        self.process.join();
        report
    }

    /// The final report of a process that was asked to stop.
    pub(crate) fn stopped(&mut self) -> Report {
        self.hear_stopping();
        self.report()
    }

    /// Waits until it begins to stop.
    pub(crate) fn hear_stopping(&mut self) {
        assert_eq!(self.process.hear::<String>(), clerk::STOPPING);
    }

    pub(crate) fn report(&mut self) -> Report {
        self.process.hear()
    }
}

/// Closes the store of a process. Others may use the file meanwhile; then it keeps its log.
pub(crate) async fn close(store: Store) {
    if let Err(error) = store.close().await {
        assert!(error.is_busy(), "{error}");
    }
}

/// Waits until something is so.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let waited = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(STUCK, waited).await.is_ok(), "it never happens: {what}");
}
