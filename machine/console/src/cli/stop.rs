use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use event_listener::{Event, EventListener};

/// Ctrl-C or SIGTERM.
pub(super) struct Stop {
    event: Arc<Event>,
    is_set: Arc<AtomicBool>,
}

impl Stop {
    /// From now on these signals no longer end the process at once.
    pub(super) fn new() -> Self {
        let (event, is_set) = (Arc::new(Event::new()), Arc::new(AtomicBool::new(false)));
        let (bell, flag) = (Arc::clone(&event), Arc::clone(&is_set));
        // Where this fails, the signals end the process as before.
        let _ = on_signal(move || {
            flag.store(true, Ordering::SeqCst);
            bell.notify(usize::MAX);
        });
        Self { event, is_set }
    }

    pub(super) fn listen(&self) -> EventListener {
        self.event.listen()
    }

    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::SeqCst)
    }
}

/// Does this for each signal, also in a program that a shell has started with Ctrl-C ignored. The
/// end of the terminal is left to the system, because `nohup` has it ignored.
#[cfg(unix)]
fn on_signal(act: impl Fn() + Send + 'static) -> std::io::Result<()> {
    use signal_hook::{
        consts::{SIGINT, SIGTERM},
        iterator::Signals,
    };

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let waits = move || signals.forever().for_each(|_| act());
    std::thread::Builder::new().name("machine-signals".to_owned()).spawn(waits).map(drop)
}

#[cfg(not(unix))]
fn on_signal(act: impl FnMut() + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::try_set_handler(act)
}
