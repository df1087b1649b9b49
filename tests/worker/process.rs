//! Workers in other processes: this test program, started again.

mod clerk;
mod crew;
mod letters;
mod log;
mod office;

use machine::worker::Worker;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use crate::process::{Process, orders, say};
pub(crate) use clerk::{Act, Orders, Report};
pub(crate) use crew::Crew;
pub(crate) use letters::{AnyLetter, AnySlip, Letter, Slip, letter, slip};
pub(crate) use machine_tests::stores::close;
pub(crate) use office::Office;

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

    /// Asks it to stop, and waits for its last output.
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

/// The process's part: says its id, and works until SIGTERM, which it confirms.
async fn work(worker: Worker) {
    let stop = say_id();
    let stop = async {
        stop.await;
        say(&clerk::STOPPING);
    };
    worker.run_until(stop).await.unwrap();
}

/// Says the id of this process, for [`Member::of`]. The future ends with the first SIGTERM from now
/// on.
pub(crate) fn say_id() -> impl Future<Output = ()> {
    let mut terminated = signal(SignalKind::terminate()).unwrap();
    say(&std::process::id());
    async move {
        terminated.recv().await;
    }
}
