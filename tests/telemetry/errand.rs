//! A machine of the tests, and handlers that do what a test needs.

use std::{fmt, sync::Arc, time::Duration};

use machine::{
    actor::{GraphRunner, Human},
    machine,
    worker::{Handled, Handler, Next, Task},
};
use machine_tests::notified;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

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

/// The handler's way with an errand that was placed. It opens it at last, and waits.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    Opens,
    /// Leaves it, and nothing else can move it.
    Waits,
    /// Opens it when it is let go.
    Holds(Hold),
    Fails(String),
    /// Is called again after an hour.
    Rests,
    /// Fails with an error whose text cannot be made.
    PanicsLater,
}

/// Holds something back until a test lets it go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hold {
    held: Arc<Notify>,
    go: Arc<Notify>,
}

impl Hold {
    pub(crate) async fn hold(&self) {
        self.held.notify_one();
        self.go.notified().await;
    }

    /// It is held now.
    pub(crate) async fn is_held(&self) {
        notified(&self.held).await;
    }

    pub(crate) fn let_go(&self) {
        self.go.notify_one();
    }
}

pub(crate) struct Clerk(pub(crate) Does);

impl Handler for Clerk {
    type Machine = AnyErrand;

    async fn handle(&self, errand: AnyErrand, task: &mut Task) -> Handled<AnyErrand> {
        let AnyErrand::Placed(errand) = errand else { return Ok(Next::Wait) };
        match &self.0 {
            Does::Opens => {}
            Does::Waits => return Ok(Next::Wait),
            Does::Holds(hold) => hold.hold().await,
            Does::Fails(text) => return Err(text.clone().into()),
            Does::Rests => return Ok(Next::WaitFor(Duration::from_hours(1))),
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
