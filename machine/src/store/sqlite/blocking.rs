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
pub(super) struct Blocking(Mutex<Option<Sender<Work>>>);

impl Blocking {
    /// Does the work. If no thread can be started, it is dropped, and its caller gets an error.
    pub(super) fn run(&self, work: Work) {
        let mut thread = lock(&self.0);
        if thread.is_none() {
            let (sender, works) = mpsc::channel::<Work>();
            let new = std::thread::Builder::new().name("machine-blocking".to_owned());
            let spawned = new.spawn(move || {
                for work in works {
                    if catch_unwind(AssertUnwindSafe(work)).is_err() {
                        telemetry::StorageFailed { operation: "blocking", status: None }.emit();
                    }
                }
            });
            match spawned {
                Ok(_) => *thread = Some(sender),
                Err(_) => {
                    telemetry::StorageFailed { operation: "blocking_thread", status: None }.emit();
                }
            }
        }
        if let Some(sender) = &*thread {
            let _ = sender.send(work);
        }
    }

    /// The thread ends after its task. Nothing waits for that, as file locks may
    /// block indefinitely.
    pub(super) fn close(&self) {
        lock(&self.0).take();
    }
}
