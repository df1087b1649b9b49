use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{process::Process, shared::Shared};
use crate::{
    Id,
    actor::{Actors, GraphRunner, Human},
    store::Message,
    worker::{Failure, Handled, Handler, Next, Task},
};

/// Messages and deadlines move it; then it waits for its legs.
#[crate::machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Trip {
    #[initial]
    #[on(open => Collecting(item = 0), by = GraphRunner)]
    Planned,
    #[stable]
    #[on(add(item) => Collecting, by = Human | GraphRunner)]
    #[on(close(item) => Splitting, by = Human)]
    #[on(expire => Splitting(item = 0), by = GraphRunner, after = Duration::from_millis(1500))]
    Collecting { item: u64 },
    /// It has no deadline: if it misses the end of its legs, it never ends.
    #[on(join => Joined, by = GraphRunner)]
    #[on(abort(item) => Aborted, by = Human)]
    Splitting { item: u64 },
    #[on(finish => Done, by = GraphRunner)]
    Joined,
    #[terminal]
    Done,
    #[terminal]
    Aborted { item: u64 },
}

/// A child of a trip.
#[crate::machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Leg {
    #[initial]
    #[on(depart => Travelling, by = GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner)]
    Waiting,
    #[stable]
    #[on(arrive(item) => Arrived, by = Human)]
    #[on(expire => Arrived(item = 0), by = GraphRunner, after = Duration::from_millis(900))]
    #[on(cancel(reason) => Cancelled, by = GraphRunner)]
    Travelling,
    #[terminal]
    Arrived { item: u64 },
    #[terminal]
    Cancelled { reason: String },
}

/// The number of legs of a trip.
pub(super) const LEGS: usize = 2;

/// The item of the message that a finished trip sends to the first one.
pub(super) const POST: u64 = 1000;

/// The moves that handlers make, with the states whose handler makes them.
pub(super) const BY_HANDLER: [(&str, &str); 4] =
    [("open", "planned"), ("join", "splitting"), ("finish", "joined"), ("depart", "waiting")];

/// The data that handlers share.
pub(super) struct Site {
    pub(super) actors: Actors,
    pub(super) shared: Arc<Shared>,
    pub(super) process: Arc<Process>,
}

impl Site {
    /// A call of a handler: takes its time, and sometimes fails, or kills its process.
    async fn work(&self, id: Id, state: &'static str) -> Result<(), Failure> {
        self.shared.ledger().called(&self.process, id, state);
        let (time, dies, fails) = self.shared.work();
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        if dies {
            self.shared.crash(&self.process, "in a handler");
            std::future::pending::<()>().await;
        }
        if fails { Err("it failed".into()) } else { Ok(()) }
    }
}

pub(super) struct Trips(pub(super) Site);

impl Handler for Trips {
    type Machine = AnyTrip;

    async fn handle(&self, any: AnyTrip, task: &mut Task) -> Handled<AnyTrip> {
        let (site, by) = (&self.0, &self.0.actors.graph_runner);
        site.work(task.id(), any.status().definition().name.as_ref()).await?;
        Ok(match any {
            AnyTrip::Planned(trip) => Next::to(trip.open(by)),
            AnyTrip::Collecting(_) => match site.shared.look_again() {
                Some(time) => Next::WaitFor(time),
                None => Next::Wait,
            },
            AnyTrip::Splitting(trip) => {
                let legs = task.children::<AnyLeg>().await?;
                if legs.is_empty() {
                    for _ in 0..LEGS {
                        task.child(Leg::new());
                    }
                    Next::Wait
                } else if legs.iter().all(|leg| leg.status().definition().terminal) {
                    Next::to(trip.join(by))
                } else {
                    Next::Wait
                }
            }
            AnyTrip::Joined(trip) => {
                if let Some((first, number)) = site.shared.ledger().first_and(task.id()) {
                    let event = trip::Event::Add { item: POST + number };
                    task.send(first, Message::new(&event, by)?);
                }
                Next::to(trip.finish(by))
            }
            AnyTrip::Done(_) | AnyTrip::Aborted(_) => Next::Wait,
        })
    }
}

pub(super) struct Legs(pub(super) Site);

impl Handler for Legs {
    type Machine = AnyLeg;

    async fn handle(&self, any: AnyLeg, task: &mut Task) -> Handled<AnyLeg> {
        self.0.work(task.id(), any.status().definition().name.as_ref()).await?;
        Ok(match any {
            AnyLeg::Waiting(leg) => Next::to(leg.depart(&self.0.actors.graph_runner)),
            AnyLeg::Travelling(_) | AnyLeg::Arrived(_) | AnyLeg::Cancelled(_) => Next::Wait,
        })
    }
}
