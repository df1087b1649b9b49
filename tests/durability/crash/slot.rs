//! A machine of the child, and its part in an operation.

use machine::{
    Id,
    contract::{
        Action, AnyExecution, Execution, InDoubt, Permit, Settled, Unsettled, execution::Running,
    },
    store::Store,
    stored::Durable,
};
use machine_tests::{Begin, Settle};

use crate::machines::AnyMeter;

/// A machine, and what the child remembers about it.
pub(super) enum Slot {
    Meter(AnyMeter),
    Execution(AnyExecution),
    /// With the permit, which this process has.
    Begun(Execution<Running>, Permit<Action>),
    /// With the outcome of its call, whose batch was refused. Dropping it would write its evidence.
    Answered(Execution<Running>, Unsettled),
    /// The permit is lost; only `recover` can do something.
    Lost(Id),
}

/// A part of an operation.
#[allow(clippy::large_enum_variant, reason = "a batch has a few")]
pub(super) enum Item {
    Create(Slot),
    Commit(Slot),
    Begin(Begin),
    Settle(Settle),
    /// Confirms that it took effect, or that it did not. Never in a batch.
    Confirm(InDoubt, bool, String),
}

impl Slot {
    pub(super) async fn load(store: &Store, id: Id, machine: &str) -> Self {
        if machine == "meter" {
            return Self::Meter(store.load(id).await.unwrap());
        }
        match store.load(id).await.unwrap() {
            AnyExecution::Running(running) if running.context().is_irreversible() => Self::Lost(id),
            other => Self::Execution(other),
        }
    }

    pub(super) fn durable(&mut self) -> &mut dyn Durable {
        match self {
            Self::Meter(machine) => machine,
            Self::Execution(machine) => machine,
            Self::Begun(machine, _) | Self::Answered(machine, _) => machine,
            Self::Lost(id) => panic!("{id} is lost"),
        }
    }

    pub(super) fn id(&self) -> Id {
        match self {
            Self::Meter(machine) => machine.id(),
            Self::Execution(machine) => machine.id(),
            Self::Begun(machine, _) | Self::Answered(machine, _) => machine.id(),
            Self::Lost(id) => *id,
        }
    }

    pub(super) fn machine(&self) -> &'static str {
        if let Self::Meter(_) = self { "meter" } else { "execution" }
    }
}

pub(super) fn slot_of(settled: Settled) -> Slot {
    match settled {
        Settled::Completed(machine) => Slot::Execution(machine.into()),
        Settled::Failed(machine) => Slot::Execution(machine.into()),
        // It is loaded again after the next `recover`.
        Settled::InDoubt(doubt) => Slot::Lost(doubt.id()),
        other => panic!("the call ends at once: {other:?}"),
    }
}

impl Item {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Create(slot) | Self::Commit(slot) => slot.machine(),
            Self::Begin(_) | Self::Settle(_) | Self::Confirm(..) => "execution",
        }
    }

    pub(super) fn written(self) -> Slot {
        match self {
            Self::Create(slot) | Self::Commit(slot) => slot,
            Self::Begin(begin) => {
                let (running, permit) = begin.finish().unwrap();
                Slot::Begun(running, permit)
            }
            Self::Settle(settle) => slot_of(settle.finish().unwrap()),
            Self::Confirm(..) => panic!("never in a batch"),
        }
    }
}
