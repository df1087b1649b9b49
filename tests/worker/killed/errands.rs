//! The work of the workers: the handler of trips and the two tools. Each effect is one line in a
//! file.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use machine::{
    contract::{Answer, Applied, Attempt, Call, NoReceipt, Outcome, Perform, Tool},
    worker::{Handled, Next, Task},
};
use machine_tests::{actors::graph_runner, book};
use serde::{Deserialize, Serialize};

use super::{
    Random,
    trips::{AnyTrip, Trip, trip},
};

/// The files of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lines(PathBuf);

impl Lines {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("agent.db")
    }

    fn add(&self, file: &str, line: &str) -> std::io::Result<()> {
        book::add(&self.0.join(file), &line)
    }

    pub(crate) fn of(&self, file: &str) -> Vec<String> {
        book::lines(&self.0.join(file))
    }
}

/// Idempotent, for the trip with this number.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(timetable.read, idempotent)]
pub(crate) struct Read {
    pub(crate) trip: u32,
}

/// Irreversible, for the trip with this number.
#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.pay, irreversible, settling_time = Duration::ZERO)]
pub(crate) struct Pay {
    pub(crate) trip: u32,
    pub(crate) amount: u32,
}

/// The services of a worker. They are slow, so that it is killed before, in and after a call.
pub(crate) struct Services {
    pub(crate) lines: Lines,
    pub(crate) random: Mutex<Random>,
}

impl Services {
    async fn pause(&self) {
        let time = self.random.lock().unwrap().number() % 60;
        tokio::time::sleep(Duration::from_millis(time)).await;
    }
}

impl Perform<Read> for Services {
    async fn perform(&self, call: &Call<Read>) -> Answer {
        self.pause().await;
        self.lines.add("reads", &call.arguments.trip.to_string())?;
        self.pause().await;
        Ok(Applied::new("platform 7"))
    }
}

impl Perform<Pay> for Services {
    async fn perform(&self, call: &Call<Pay>) -> Answer {
        self.pause().await;
        self.lines.add("payments", &call.key.as_ref().unwrap().to_string())?;
        self.pause().await;
        Ok(Applied::new(format!("paid {}", call.arguments.amount)))
    }

    async fn find(&self, attempt: &Attempt<Pay>) -> Answer {
        if self.lines.of("payments").contains(&attempt.key.as_ref().unwrap().to_string()) {
            Ok(Applied::new(format!("paid {}", attempt.arguments.amount)))
        } else {
            Err(NoReceipt::not_applied("there is no line with this key"))
        }
    }
}

/// The handler.
pub(crate) struct Guide;

impl trip::Handle for Guide {
    async fn planned(&self, trip: Trip<trip::Planned>, _: &mut Task) -> Handled<AnyTrip> {
        Ok(Next::to(trip.look(graph_runner())))
    }

    async fn reading(
        &self,
        trip: Trip<trip::Reading>,
        outcome: Outcome<Read>,
        _: &mut Task,
    ) -> Handled<AnyTrip> {
        outcome?;
        Ok(Next::to(trip.found(graph_runner())))
    }

    async fn paying(
        &self,
        trip: Trip<trip::Paying>,
        outcome: Outcome<Pay>,
        _: &mut Task,
    ) -> Handled<AnyTrip> {
        Ok(match outcome {
            Ok(_) => Next::to(trip.paid(graph_runner())),
            Err(_) => Next::to(trip.again(graph_runner())),
        })
    }
}
