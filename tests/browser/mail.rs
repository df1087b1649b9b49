//! The irreversible tool of these tests, and a worker that runs it.

use std::time::Duration;

use machine::{
    actor::Actors,
    contract::{Answer, Applied, Call, Perform, Tool},
    store::Store,
    worker::Worker,
};
use machine_tests::STUCK;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(email.send, irreversible, settling_time = Duration::ZERO, about = "{to}")]
pub(crate) struct SendMail {
    to: String,
    subject: String,
    body: String,
}

impl SendMail {
    pub(crate) fn to(to: &str) -> Self {
        Self {
            to: to.to_owned(),
            subject: "Meeting on Monday".to_owned(),
            body: "Shall we meet at ten?".to_owned(),
        }
    }
}

/// A mail server that gives this answer to every mail.
pub(crate) struct Server(pub(crate) fn(&SendMail) -> Answer);

impl Perform<SendMail> for Server {
    async fn perform(&self, call: &Call<SendMail>) -> Answer {
        (self.0)(&call.arguments)
    }
}

/// It takes every mail.
pub(crate) const TAKES: Server = Server(|_| Ok(Applied::new("250 OK queued as 17")));

/// Sends approved mails until none is left.
pub(crate) async fn work(store: &Store, server: Server) {
    rest(Worker::new(store, Actors::issue("mailer").unwrap()).tool::<SendMail>(server)).await;
}

/// Runs a worker until it rests.
pub(crate) async fn rest(worker: Worker) {
    let idle = tokio::time::timeout(STUCK, worker.run_until_idle());
    idle.await.expect("the worker rests").unwrap();
}
