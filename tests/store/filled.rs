//! A store to make lists of.

use std::time::Duration;

use machine::{
    Id,
    actor::GraphRunner,
    clock::Millis,
    contract::Contract,
    machine,
    store::{MachineLine, Query},
};
use machine_tests::{
    actors::{reasoning_node, tool_node},
    samples::{Ticket, asked_in, mail, read},
};
use serde::{Deserialize, Serialize};

use crate::store::support::{Hand, Place, START};

/// A machine with a deadline.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Egg {
    #[initial]
    #[on(boil => Boiling)]
    Raw,
    #[on(burst => Burst, by = GraphRunner, after = Duration::from_millis(1000))]
    Boiling,
    #[terminal]
    Burst,
}

/// A store with machines of several kinds, sessions, keys, gates and deadlines.
pub(crate) struct Filled {
    pub(crate) place: Place,
    pub(crate) clock: Hand,
    pub(crate) start: Millis,
    pub(crate) gate: Id,
}

impl Filled {
    pub(crate) async fn new(place: Place) -> Self {
        let (place, clock) = place.clocked().await;
        for number in 0..4_u8 {
            let session = format!("s{}", number % 3);
            let _ = place.stored(mail("bob").session(&session)).await;
            let pending = place.stored(read("a.txt").session(&session)).await;
            let _ = place.committed(pending.start(tool_node())).await;
            let question = Contract::ecs_request("Deploy?", reasoning_node()).unwrap();
            let _ = place.created(asked_in(question.session(session))).await;
            let _ = place.created(Ticket::new()).await;
            let _ = place.created(Ticket::new().park()).await;
            // Each deadline is for two machines.
            for _ in 0..2 {
                let _ = place.created(Egg::new().boil()).await;
            }
            clock.advance(100);
        }
        let gate = place.asked(mail("ann")).await.0.id();
        let _ = place.done(mail("carl")).await;
        Self { place, clock, start: START, gate }
    }

    pub(crate) fn at(&self, after_start: Millis) {
        self.clock.set(self.start + after_start);
    }

    pub(crate) async fn all(&self) -> Vec<MachineLine> {
        self.place.lines(&Query::new().limit(usize::MAX)).await
    }

    /// Asserts that a query selects what a condition selects of all machines, in order of creation.
    pub(crate) async fn selects(
        &self,
        query: Query,
        is_selected: impl Fn(&MachineLine) -> bool,
    ) -> usize {
        let mut expected = self.all().await;
        expected.retain(is_selected);
        assert_eq!(self.place.lines(&query).await, expected, "{query:?}");
        expected.len()
    }
}
