use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        mpsc::{self, Sender},
    },
};

use crate::{store::lock::lock, telemetry};

type Work = Box<dyn FnOnce() + Send>;

/// A thread for work that may block for long, such as file locks, so that no read waits behind it.
/// It starts with the first work.
#[derive(Debug, Default)]
pub(super) struct Blocking(Mutex<ThreadState>);

#[derive(Debug, Default)]
enum ThreadState {
    #[default]
    Idle,
    Running(Sender<Work>),
    Closed,
}

impl Blocking {
    /// Does the work, or drops it after `close`.
    pub(super) fn run(&self, work: Work) {
        let mut state = lock(&self.0);
        if let ThreadState::Idle = &*state {
            let (sender, works) = mpsc::channel::<Work>();
            let thread = std::thread::Builder::new().name("machine-blocking".to_owned());
            let spawned = thread.spawn(move || {
                for work in works {
                    if catch_unwind(AssertUnwindSafe(work)).is_err() {
                        telemetry::StorageFailed { operation: "blocking", status: None }.emit();
                    }
                }
            });
            match spawned {
                Ok(_) => *state = ThreadState::Running(sender),
                // The work is dropped, and its caller gets an error.
                Err(_) => {
                    telemetry::StorageFailed { operation: "blocking_thread", status: None }.emit();
                }
            }
        }
        if let ThreadState::Running(sender) = &*state {
            let _ = sender.send(work);
        }
    }

    /// The thread ends after its task. Nothing waits for that, as file locks may
    /// block indefinitely.
    pub(super) fn close(&self) {
        *lock(&self.0) = ThreadState::Closed;
    }
}
