//! A machine that reads, waits for a person, pays, and rests.

use std::time::Duration;

use machine::{
    actor::{GraphRunner, Human},
    machine,
    stored::Context,
};
use serde::{Deserialize, Serialize};

use super::errands::{Pay, Read};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) number: u32,
    /// It is not confirmed, and does not wait for long.
    pub(crate) is_hurried: bool,
}

impl Context for Terms {
    type Summary = ();
}

impl Terms {
    fn patience(&self) -> Option<Duration> {
        self.is_hurried.then_some(Duration::from_millis(200))
    }
}

#[machine(durable, context = Terms)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Trip {
    #[initial]
    #[on(look => Reading, by = GraphRunner)]
    Planned,
    /// An idempotent call reads.
    #[invoke(read: Read = Read { trip: context.number })]
    #[on(found => Asking, by = GraphRunner)]
    Reading,
    /// A person confirms it.
    #[stable]
    #[on(confirm(amount) => Paying, by = Human)]
    #[on(expire => Expired, by = GraphRunner, after = context.patience())]
    Asking,
    /// An irreversible call pays. It is made again if it did not take effect.
    #[invoke(pay: Pay = Pay { trip: context.number, amount }, unattended)]
    #[on(paid => Resting, by = GraphRunner)]
    #[on(again => Paying, by = GraphRunner)]
    Paying { amount: u32 },
    #[on(wake => Over, by = GraphRunner, after = Duration::from_millis(100))]
    Resting { amount: u32 },
    #[terminal]
    Over { amount: u32 },
    #[terminal]
    Expired,
}
