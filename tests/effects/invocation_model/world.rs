//! What is stored, where each request is, and what only the model knows.

use super::{
    rules::Gets,
    scenario::{Amount, Budget, Scenario},
};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) machines: Vec<Machine>,
    /// The executions, the oldest first. Those that no longer matter are removed.
    pub(super) calls: Vec<Call>,
    /// How often the bank has paid ten, and twenty.
    pub(super) paid: [u8; 2],
    /// The number of overrides by a person.
    pub(super) overrides: u8,
    pub(super) left: Budget,
    /// A violation that can only be seen at the moment at which it happens.
    pub(super) fault: Option<Fault>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Machine {
    pub(super) place: Place,
    /// The number of its entries into PAYING.
    pub(super) entry: u8,
    /// What the newest entry calls: an index into the sets of the scenario.
    pub(super) set: usize,
    /// The calls of the current entry, in order; empty outside PAYING.
    pub(super) members: Vec<Member>,
    /// An entry that a program has prepared and not committed.
    pub(super) plan: Option<Plan>,
    /// A message that cancels the machine waits, or its deadline is due.
    pub(super) kept: bool,
    /// Its last transition said `detach`.
    pub(super) by_detach: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Before the first entry.
    Cart,
    Paying,
    /// Nothing was said yet.
    Paused,
    Paid,
    /// "It was not paid."
    Unpaid,
    /// The same, and the machine has ended.
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Member {
    pub(super) amount: Amount,
    pub(super) state: MemberState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum MemberState {
    /// It waits for the outcome of this call. The machine may have been told that it is overdue.
    Open { call: usize, overdue: bool },
    /// The machine has taken its outcome: a receipt, or anything else.
    Taken { receipt: bool },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Plan {
    pub(super) set: usize,
    pub(super) approve: bool,
    pub(super) gets: Vec<Gets>,
}

/// An execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(super) struct Call {
    pub(super) machine: usize,
    /// The entry that created it.
    pub(super) entry: u8,
    pub(super) amount: Amount,
    pub(super) gate: Gate,
    pub(super) stage: Stage,
    pub(super) request: Request,
    /// Its outcome was taken, or its message acknowledged as stale.
    pub(super) taken: bool,
    /// The attempts at its message are used up.
    pub(super) set_aside: bool,
    pub(super) overridden: bool,
    /// A receipt arrived after an override.
    pub(super) contradicted: bool,
    /// The entry of its machine when it ended. Only a broken twin reads it.
    pub(super) ended_in: u8,
    /// Not stored: its machine has seen its outcome, or its name in a `Differs`.
    pub(super) is_known: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Gate {
    None,
    Open,
    Approved,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// It waits for its gate, its key or a worker.
    Pending,
    Begun,
    InDoubt,
    Ended(Outcome),
    /// It was cancelled before it began, because its entry was left.
    Withdrawn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    Receipt,
    /// The bank refused it, or a person says that it was not paid.
    NotApplied,
    /// A person declined it at the gate.
    NotApproved,
    AlreadyDone(usize),
    Differs(usize),
}

/// Where the request of a call is. The store does not see this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Request {
    NotSent,
    OnItsWay,
    Paid,
    /// It never pays.
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Fault {
    TakenTwice,
    /// A receipt was taken for a payment of another machine or of another amount.
    NoProof,
    /// `AlreadyDone` names a call of another amount, or `Differs` one of the same amount.
    Misnamed,
    /// The answer of an idempotent call of an earlier entry was taken.
    OldAnswer,
    /// A person was asked about what they had declined, and the machine did not know.
    AskedAgain,
}

impl Place {
    pub(super) fn is_end(self) -> bool {
        matches!(self, Self::Paid | Self::Unpaid | Self::Cancelled)
    }
}

impl Machine {
    pub(super) fn open_calls(&self) -> impl Iterator<Item = usize> {
        self.members.iter().filter_map(Member::open_call)
    }
}

impl Member {
    pub(super) fn open_call(&self) -> Option<usize> {
        match self.state {
            MemberState::Open { call, .. } => Some(call),
            MemberState::Taken { .. } => None,
        }
    }
}

impl Call {
    pub(super) fn new(machine: usize, entry: u8, amount: Amount) -> Self {
        Self {
            machine,
            entry,
            amount,
            gate: Gate::None,
            stage: Stage::Pending,
            request: Request::NotSent,
            taken: false,
            set_aside: false,
            overridden: false,
            contradicted: false,
            ended_in: entry,
            is_known: false,
        }
    }

    /// It has paid, or still may.
    pub(super) fn may_have_paid(&self) -> bool {
        matches!(self.request, Request::OnItsWay | Request::Paid)
    }
}

impl World {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let machine = Machine {
            place: Place::Cart,
            entry: 0,
            set: 0,
            members: Vec::new(),
            plan: None,
            kept: false,
            by_detach: false,
        };
        Self {
            machines: vec![machine; scenario.entries.len()],
            calls: Vec::new(),
            paid: [0; 2],
            overrides: 0,
            left: scenario.budget,
            fault: None,
        }
    }

    /// Removes the calls that no longer matter, so that the number of states is small.
    pub(super) fn forget(&mut self) {
        let mut at = 0;
        while at < self.calls.len() {
            if self.matters(at) || self.references().any(|call| *call == at) {
                at += 1;
                continue;
            }
            self.calls.remove(at);
            for call in self.references() {
                *call -= usize::from(*call > at);
            }
        }
    }

    fn matters(&self, at: usize) -> bool {
        let call = &self.calls[at];
        let its = &self.machines[call.machine];
        let is_over = match call.stage {
            Stage::Pending | Stage::Begun | Stage::InDoubt => false,
            Stage::Ended(_) => call.taken || its.place == Place::Cancelled,
            Stage::Withdrawn => call.gate != Gate::Open,
        };
        !is_over || call.may_have_paid()
    }

    /// Everything that names a call.
    fn references(&mut self) -> impl Iterator<Item = &mut usize> {
        let of_calls = self.calls.iter_mut().filter_map(|call| match &mut call.stage {
            Stage::Ended(Outcome::AlreadyDone(by) | Outcome::Differs(by)) => Some(by),
            _ => None,
        });
        let of_machines = self.machines.iter_mut().flat_map(|machine| {
            let members = machine.members.iter_mut().filter_map(|it| match &mut it.state {
                MemberState::Open { call, .. } => Some(call),
                MemberState::Taken { .. } => None,
            });
            let planned = machine.plan.iter_mut().flat_map(|plan| &mut plan.gets);
            members.chain(planned.filter_map(|gets| match gets {
                Gets::Joined(by) | Gets::Ended(Outcome::AlreadyDone(by) | Outcome::Differs(by)) => {
                    Some(by)
                }
                Gets::Ended(_) | Gets::New => None,
            }))
        });
        of_calls.chain(of_machines)
    }
}
