//! The database and the server that several mails share.

use std::{
    os::unix::process::ExitStatusExt,
    process::Output,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize},
    },
    time::Duration,
};

use machine::{Id, view::Label};

use super::office::{Figures, Office, count};
use crate::world::{World, errors, printed};

/// A database and a server.
pub(super) struct Desk {
    pub(super) world: World,
    pub(super) office: Arc<Office>,
    /// Complaints of processes.
    pub(super) complaints: Mutex<Vec<String>>,
    /// The ends that processes reported.
    pub(super) reported: Mutex<Vec<(Id, String)>>,
    pub(super) figures: Arc<Figures>,
    /// The durations of a person's decision, and of sending a mail.
    pub(super) decision: Duration,
    pub(super) work: Duration,
    /// No work is left.
    pub(super) is_done: AtomicBool,
}

impl Desk {
    pub(super) fn new(figures: Arc<Figures>, (decision, work): (Duration, Duration)) -> Self {
        let office = Arc::new(Office {
            mailbox: Mutex::default(),
            to_stop: Mutex::default(),
            steps: AtomicUsize::new(0),
            figures: Arc::clone(&figures),
        });
        let server = Arc::clone(&office);
        Self {
            world: World::with(move |step| server.answer(step)),
            office,
            complaints: Mutex::default(),
            reported: Mutex::default(),
            figures,
            decision,
            work,
            is_done: AtomicBool::new(false),
        }
    }

    /// Takes note of how a process ended, and of what it reported.
    pub(super) fn note(&self, command: &str, output: &Output) {
        count(&self.figures.processes);
        match (output.status.code(), output.status.signal()) {
            (Some(0 | 1), _) => {}
            // The file stayed busy for longer than a command waits: one tries again.
            (Some(5), _) if errors(output).contains("locked") => count(&self.figures.busy),
            (None, Some(9)) => count(&self.figures.killed),
            // It was asked to stop before it could say that it works.
            (None, Some(15)) if command.starts_with("work") => {}
            _ => panic!("{command}: {output:?}"),
        }
        self.complaints.lock().unwrap().push(format!("{command}: {}", errors(output)));
        let printed = printed(output);
        // The last line may be cut by a kill.
        let lines = printed.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let items = lines.filter_map(item);
        let ended = ["SUCCESS", "FAILED", "REJECTED", "CANCELLED"];
        let ended = items.filter(|(_, label)| ended.contains(&label.as_str()));
        self.reported.lock().unwrap().extend(ended);
    }

    /// After the last process.
    pub(super) fn check(&self) {
        let received = self.world.server.received();
        let printed = self.world.work();
        assert_eq!(self.world.server.received(), received, "nothing was left to send: {printed}");
        let status = self.world.ok("list");
        self.world.verify();
        for (id, label) in self.reported.lock().unwrap().drain(..) {
            let now = self.world.label(id);
            let kept = now.to_string() == label;
            let contradicted = label == "FAILED" && now == Label::Contradicted;
            assert!(kept || contradicted, "{id} was reported as {label}, and is {now}: {status}");
        }
    }
}

/// The id and the label of a line of the program.
pub(super) fn item(line: &str) -> Option<(Id, String)> {
    let (id, rest) = line.split_once("  [")?;
    let label = rest.split([']', ' ']).next()?;
    Some((id.parse().ok()?, label.to_owned()))
}
