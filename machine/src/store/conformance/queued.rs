//! The memory backend behind a queue and a thread: the suite must suit backends that answer later.

use std::{
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    thread,
};

use futures_channel::oneshot;

use super::run;
use crate::store::{
    backend::{Backend, Delegate, Reply, StoreSettings},
    error::Unavailable,
    memory::Memory,
};

#[test]
fn a_backend_may_answer_later() {
    run("queued", &|settings| Arc::new(Queued::new(settings)));
}

#[derive(Debug)]
struct Queued {
    memory: Arc<Memory>,
    /// The thread ends when this is dropped.
    queue: Sender<Box<dyn FnOnce() + Send>>,
}

impl Queued {
    fn new(settings: StoreSettings) -> Self {
        let (queue, jobs) = channel::<Box<dyn FnOnce() + Send>>();
        thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        Self { memory: Arc::new(Memory::new(settings)), queue }
    }
}

impl Delegate for Queued {
    fn inner(&self) -> &dyn Backend {
        &*self.memory
    }

    fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Backend) -> Reply<T> + Send + 'static,
    ) -> Reply<T> {
        let (sender, receiver) = oneshot::channel();
        let memory = Arc::clone(&self.memory);
        Delegate::run(
            self,
            Box::new(move || {
                // A caller that has stopped waiting needs no answer.
                let _ = sender.send(pollster::block_on(call(&*memory)));
            }),
        );
        Box::pin(async move { receiver.await.unwrap_or_else(|_| Err(Unavailable::stopped())) })
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        // If the thread has ended, the job is dropped, and with it its sender.
        let _ = self.queue.send(work);
    }
}
