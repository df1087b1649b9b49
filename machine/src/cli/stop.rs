use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use event_listener::{Event, EventListener};

/// Ctrl-C, SIGTERM or SIGHUP.
pub(super) struct Stop {
    event: Arc<Event>,
    is_set: Arc<AtomicBool>,
}

impl Stop {
    /// From now on these signals no longer end the process at once.
    pub(super) fn new() -> Self {
        let (event, is_set) = (Arc::new(Event::new()), Arc::new(AtomicBool::new(false)));
        let (bell, flag) = (Arc::clone(&event), Arc::clone(&is_set));
        // A program that has a handler of its own ends by that.
        let _ = ctrlc::try_set_handler(move || {
            flag.store(true, Ordering::SeqCst);
            bell.notify(usize::MAX);
        });
        Self { event, is_set }
    }

    /// Notified when a signal comes.
    pub(super) fn listen(&self) -> EventListener {
        self.event.listen()
    }

    /// Whether a signal has come.
    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::SeqCst)
    }
}
