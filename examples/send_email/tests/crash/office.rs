//! The mail server of the test, and what it counts.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use mailin::{Response, response};

use crate::{process::signal, server::Step};

/// The maximum time that the server takes for an answer.
pub(super) const SLOW: Duration = Duration::from_millis(60);

/// Counts of the events.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) processes: AtomicUsize,
    pub(super) workers: AtomicUsize,
    pub(super) asked_to_stop: AtomicUsize,
    pub(super) busy: AtomicUsize,
    pub(super) killed: AtomicUsize,
    pub(super) frozen: AtomicUsize,
    pub(super) sent: AtomicUsize,
    pub(super) not_sent: AtomicUsize,
    pub(super) refused_by_the_server: AtomicUsize,
    pub(super) set_aside: AtomicUsize,
    pub(super) found_in_doubt: AtomicUsize,
    pub(super) freed_by_name: AtomicUsize,
    pub(super) contradicted: AtomicUsize,
    pub(super) mails_that_came_twice: AtomicUsize,
}

pub(super) fn count(figure: &AtomicUsize) {
    figure.fetch_add(1, Ordering::Relaxed);
}

/// The state that the server and the people share.
pub(super) struct Office {
    /// The mails that arrived, by recipient.
    pub(super) mailbox: Mutex<HashMap<String, usize>>,
    /// The workers that the server stops when it hears of a mail, whichever of them sends it. No process
    /// waits for the end of one that is in here.
    pub(super) to_stop: Mutex<HashSet<u32>>,
    pub(super) steps: AtomicUsize,
    pub(super) figures: Arc<Figures>,
}

impl Office {
    /// The policy of the server.
    pub(super) fn answer(&self, step: Step<'_>) -> Response {
        let number = self.steps.fetch_add(1, Ordering::Relaxed);
        match step {
            Step::Recipient(_) if number % 5 == 4 => {
                count(&self.figures.refused_by_the_server);
                return Response::custom(450, "4.7.1 come back later".to_owned());
            }
            Step::Recipient(_) if number.is_multiple_of(2) => self.stop_workers(),
            Step::Recipient(_) => {}
            Step::Stored(mail) => {
                let mail = String::from_utf8_lossy(mail);
                let to = mail.lines().find_map(|line| line.strip_prefix("To: ")).unwrap();
                *self.mailbox.lock().unwrap().entry(to.to_owned()).or_default() += 1;
                self.stop_workers();
            }
        }
        // It takes its time, so that many processes end while they wait for it.
        thread::sleep(SLOW / 6 * u32::try_from(number % 7).unwrap());
        response::OK
    }

    fn stop_workers(&self) {
        for process in self.to_stop.lock().unwrap().drain() {
            signal(process, "STOP");
        }
    }

    pub(super) fn received(&self, to: &str) -> usize {
        self.mailbox.lock().unwrap().get(to).copied().unwrap_or_default()
    }
}
