//! Processes that are killed, frozen and thawed.

use std::{process::Output, sync::atomic::Ordering, thread, time::Duration};

use super::{desk::Desk, office::count, random::Random};
use crate::process::Process;

/// The fate of a process.
#[derive(Clone, Copy)]
pub(super) enum Disturbance {
    Lives,
    Killed { when: When },
    Frozen { when: When, thaws_after: Duration, killed: bool },
}

#[derive(Clone, Copy)]
pub(super) enum When {
    After(Duration),
    /// The server has heard of a mail, and has not answered yet.
    Sending,
}

impl Disturbance {
    pub(super) fn random(random: &mut Random, when: When) -> Self {
        if random.one_in(2) {
            return Self::Killed { when };
        }
        // Longer than the timeout and the lease, most of the time.
        let thaws_after = Duration::from_millis(random.below(800));
        Self::Frozen { when, thaws_after, killed: random.one_in(3) }
    }

    /// Starts a process, and does that to it.
    pub(super) fn happens(self, desk: &Desk, command: &str) -> Process {
        // Locked, so that the server knows the process before it hears from it.
        let mut to_stop = desk.office.to_stop.lock().unwrap();
        let mut child = desk.world.start(command);
        if let Self::Killed { when: When::Sending } | Self::Frozen { when: When::Sending, .. } =
            self
        {
            to_stop.insert(child.id());
        }
        drop(to_stop);
        match self {
            Self::Lives => {}
            Self::Killed { when } => {
                if is_alive(desk, &mut child, when) {
                    child.kill().unwrap();
                }
            }
            Self::Frozen { when, thaws_after, killed } => {
                if is_alive(desk, &mut child, when) {
                    count(&desk.figures.frozen);
                    child.signal("STOP");
                    thread::sleep(thaws_after);
                    if killed {
                        child.kill().unwrap();
                    } else {
                        child.signal("CONT");
                    }
                }
            }
        }
        child
    }
}

/// Runs a command to its end, successful or not.
pub(super) fn run_disturbed(desk: &Desk, command: &str, fate: Disturbance) -> Output {
    let output = fate.happens(desk, command).ended();
    desk.note(command, &output);
    output
}

/// Waits until then. Whether the process is alive.
fn is_alive(desk: &Desk, child: &mut Process, when: When) -> bool {
    if let When::After(time) = when {
        thread::sleep(time);
        return child.try_wait().unwrap().is_none();
    }
    loop {
        let mut to_stop = desk.office.to_stop.lock().unwrap();
        if !to_stop.contains(&child.id()) {
            // The server has stopped it.
            return true;
        }
        if child.try_wait().unwrap().is_some() || desk.is_done.load(Ordering::SeqCst) {
            to_stop.remove(&child.id());
            return false;
        }
        drop(to_stop);
        thread::sleep(Duration::from_millis(2));
    }
}
