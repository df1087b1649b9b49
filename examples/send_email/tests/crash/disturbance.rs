//! Processes that are killed, frozen and thawed.

use std::{process::Child, thread, time::Duration};

use super::{desk::Desk, office::count};
use crate::world::signal;
/// What happens to a process.
#[derive(Clone, Copy)]
pub(super) enum Disturbance {
    Lives,
    Killed { when: When },
    Frozen { when: When, thaws_after: Duration, killed: bool },
}

#[derive(Clone, Copy)]
pub(super) enum When {
    After(Duration),
    /// The server has heard of a mail to the same recipient, and has not answered yet.
    Sending,
}

/// Runs a command to its end, successful or not.
pub(super) fn run_disturbed(desk: &Desk, to: &str, command: &str, fate: Disturbance) {
    // Locked, so that the server knows the process before it hears from it.
    let mut to_stop = desk.office.to_stop.lock().unwrap();
    let mut child = desk.world.command(command).spawn().unwrap();
    if let Disturbance::Killed { when: When::Sending }
    | Disturbance::Frozen { when: When::Sending, .. } = fate
    {
        to_stop.insert(child.id(), to.to_owned());
    }
    drop(to_stop);
    match fate {
        Disturbance::Lives => {}
        Disturbance::Killed { when } => {
            if is_alive(desk, &mut child, when) {
                child.kill().unwrap();
            }
        }
        Disturbance::Frozen { when, thaws_after, killed } => {
            if is_alive(desk, &mut child, when) {
                count(&desk.figures.frozen);
                signal(child.id(), "STOP");
                thread::sleep(thaws_after);
                if killed {
                    child.kill().unwrap();
                } else {
                    signal(child.id(), "CONT");
                }
            }
        }
    }
    desk.note(command, &child.wait_with_output().unwrap());
}

/// Waits until then. Whether the process is alive.
pub(super) fn is_alive(desk: &Desk, child: &mut Child, when: When) -> bool {
    if let When::After(time) = when {
        thread::sleep(time);
        return child.try_wait().unwrap().is_none();
    }
    loop {
        let mut to_stop = desk.office.to_stop.lock().unwrap();
        if !to_stop.contains_key(&child.id()) {
            // The server has stopped it.
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            to_stop.remove(&child.id());
            return false;
        }
        drop(to_stop);
        thread::sleep(Duration::from_millis(2));
    }
}
