//! A machine of the tests, and handlers that do what a test needs.

use std::{fmt, time::Duration};

use machine::{
    actor::{GraphRunner, Human},
    machine,
    worker::{Failure, Handler, Next, Task},
};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Errand {
    #[initial]
    #[on(open => Open, by = GraphRunner)]
    Placed { note: String },
    #[stable]
    #[on(say(text) => Said, by = Human)]
    #[on(note(note) => Open, by = GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner | Human)]
    Open { note: String },
    #[terminal]
    Said { text: String },
    #[terminal]
    Cancelled { reason: String },
}

/// What a handler does with an errand that was placed. It opens it at last, and waits.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    Opens,
    /// Takes this long.
    Slowly(Duration),
    Fails(String),
    /// Fails with an error whose text cannot be made.
    PanicsLater,
}

pub(crate) struct Clerk(pub(crate) Does);

impl Handler for Clerk {
    type Machine = AnyErrand;

    async fn handle(&self, errand: AnyErrand, task: &mut Task) -> Result<Next<AnyErrand>, Failure> {
        let AnyErrand::Placed(errand) = errand else { return Ok(Next::Wait) };
        match &self.0 {
            Does::Opens => {}
            Does::Slowly(time) => tokio::time::sleep(*time).await,
            Does::Fails(text) => return Err(text.clone().into()),
            Does::PanicsLater => return Err(Box::new(Unspeakable)),
        }
        Ok(Next::to(errand.open(&task.actors().graph_runner)))
    }
}

#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("its text cannot be made")
    }
}

impl std::error::Error for Unspeakable {}
