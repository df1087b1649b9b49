//! The machine that walks.

use machine::contract::CallError;

use crate::worker::prelude::*;

pub(super) use tour::Event;

/// Pays a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.pay, irreversible, settling_time = Duration::ZERO)]
pub(super) struct Pay {
    pub(super) stage: u32,
}

/// The number of stages.
const STAGES: u32 = 3;

impl Pay {
    fn is_last(&self) -> bool {
        self.stage + 1 == STAGES
    }

    fn following(&self) -> Self {
        Self { stage: self.stage + 1 }
    }
}

#[machine(durable, fields(pay: Pay, in = Booking | Boarded | Unpaid | Paused))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Tour {
    #[initial]
    #[invoke(fare: Pay = pay.clone(), approve, done = paid, failed = refused)]
    #[on(paid(receipt: String) => Boarded)]
    #[on(refused(why: CallError) => match why {
        CallError::AlreadyDone { .. } => Boarded,
        _ => Unpaid,
    })]
    #[on(pause => Paused, by = Human, detach)]
    #[on(expire => Paused, by = GraphRunner, after = Duration::from_secs(10))]
    Booking,
    #[on(again => Booking, by = Human)]
    #[on(ride => if pay.is_last() { Home } else { Booking(pay = pay.following()) },
         by = GraphRunner, after = Duration::from_secs(2), detach)]
    Boarded,
    #[on(retry => Booking, by = GraphRunner, after = Duration::from_secs(1))]
    Unpaid,
    #[on(resume => Booking, by = Human)]
    #[on(skip => if pay.is_last() { Home } else { Booking(pay = pay.following()) },
         by = GraphRunner, after = Duration::from_secs(12), detach)]
    Paused,
    #[terminal]
    Home,
}
