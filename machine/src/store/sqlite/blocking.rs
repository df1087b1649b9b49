use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Sender},
    },
};

use crate::telemetry;

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
        // Poisoning is harmless: the state is changed in one step.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = ThreadState::Closed;
    }
}
