//! The rules, as the library has to implement them. They read only what is stored.

use super::{
    defect::Defect,
    scenario::{Amount, Scenario},
    world::{Call, Gate, Outcome, Place, Stage, World},
};

/// What an execution has of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    Free,
    Held,
    Applied,
}

/// What a member of a new entry gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Gets {
    /// It takes this call over.
    Joined(usize),
    /// It ends at once, and nothing is created that could run.
    Ended(Outcome),
    /// A new call. If another one has the key, it waits.
    New,
}

impl Call {
    pub(super) fn hold(&self, scenario: &Scenario) -> Hold {
        match self.stage {
            _ if scenario.is_idempotent() => Hold::Free,
            Stage::Ended(Outcome::Receipt) => Hold::Applied,
            Stage::Ended(_) if self.contradicted => Hold::Applied,
            Stage::Begun | Stage::InDoubt => Hold::Held,
            Stage::Pending | Stage::Ended(_) | Stage::Withdrawn => Hold::Free,
        }
    }

    /// The predicate of join and of wait.
    pub(super) fn is_under_way(&self, scenario: &Scenario) -> bool {
        self.hold(scenario) != Hold::Free && !self.taken && !self.overridden
    }

    /// A person declined it, and its machine does not know.
    fn is_declined(&self, scenario: &Scenario) -> bool {
        let is_declined = self.stage == Stage::Ended(Outcome::NotApproved);
        is_declined && !self.taken && !scenario.is_idempotent()
    }
}

impl World {
    /// Join: what each member of an entry gets.
    pub(super) fn gets(&self, scenario: &Scenario, machine: usize, set: usize) -> Vec<Gets> {
        let mut all = Vec::new();
        for &amount in scenario.sets[set] {
            let gets = self.gets_one(scenario, machine, amount, &all);
            all.push(gets);
        }
        all
    }

    fn gets_one(
        &self,
        scenario: &Scenario,
        machine: usize,
        amount: Amount,
        before: &[Gets],
    ) -> Gets {
        let is = |defect| scenario.defect == Some(defect);
        let own = self.position(|call| {
            let of_this = call.machine == machine || is(Defect::JoinsOtherMachine);
            let is_one_key = call.amount == amount || scenario.have_one_key(call.amount, amount);
            let may_join = call.is_under_way(scenario)
                || match call.stage {
                    Stage::Ended(Outcome::Receipt) => {
                        is(Defect::JoinsTaken) || is(Defect::JoinsIdempotent)
                    }
                    Stage::Ended(Outcome::NotApplied) => is(Defect::JoinsEnded) && !call.taken,
                    _ => false,
                };
            of_this && is_one_key && may_join
        });
        if let Some(own) = own.filter(|_| !is(Defect::NoJoin)) {
            let is_same = self.calls[own].amount == amount || is(Defect::JoinsOtherArguments);
            let joins = Gets::Joined(own);
            if is_same && (!before.contains(&joins) || is(Defect::JoinsTwice)) {
                return joins;
            }
            if !is_same && !is(Defect::WaitsForOtherArguments) {
                return Gets::Ended(Outcome::Differs(own));
            }
        }
        let done = self.done(scenario, amount).map(Gets::Ended);
        let declined = self.declined(scenario, (machine, amount), before);
        let declined = declined.filter(|_| !is(Defect::AsksAgain)).map(Gets::Joined);
        done.or(declined).unwrap_or(Gets::New)
    }

    /// The newest call of this machine with the key, if a person declined it and the machine does
    /// not know.
    pub(super) fn declined(
        &self,
        scenario: &Scenario,
        (machine, amount): (usize, Amount),
        before: &[Gets],
    ) -> Option<usize> {
        let is_one_key = |call: &Call| {
            call.machine == machine
                && call.stage != Stage::Withdrawn
                && scenario.have_one_key(call.amount, amount)
        };
        let mut own = (0..self.calls.len()).rev().filter(|at| is_one_key(&self.calls[*at]));
        let newest = own.find(|at| !before.contains(&Gets::Joined(*at)))?;
        let call = &self.calls[newest];
        (call.amount == amount && call.is_declined(scenario)).then_some(newest)
    }

    /// The outcome of a call whose key was applied by another one.
    pub(super) fn done(&self, scenario: &Scenario, amount: Amount) -> Option<Outcome> {
        let by = self.position(|call| {
            scenario.have_one_key(call.amount, amount) && call.hold(scenario) == Hold::Applied
        })?;
        let is_same = self.calls[by].amount == amount
            || scenario.defect == Some(Defect::DoneWithOtherArguments);
        Some(if is_same { Outcome::AlreadyDone(by) } else { Outcome::Differs(by) })
    }

    /// The call that has a key.
    pub(super) fn holder(&self, scenario: &Scenario, amount: Amount) -> Option<usize> {
        self.position(|call| {
            scenario.have_one_key(call.amount, amount) && call.hold(scenario) != Hold::Free
        })
    }

    pub(super) fn may_begin(&self, scenario: &Scenario, at: usize) -> bool {
        let call = &self.calls[at];
        let is_free = self.holder(scenario, call.amount).is_none();
        call.gate != Gate::Open && (is_free || scenario.defect == Some(Defect::IgnoresKey))
    }

    /// Wait: whether a transition without `detach` leaves now. Not asked for transitions on an
    /// outcome.
    pub(super) fn may_leave(&self, scenario: &Scenario, machine: usize, to: Place) -> bool {
        let is_under_way = |at: usize| self.calls[at].is_under_way(scenario);
        let of_machine = |at: &usize| self.calls[*at].machine == machine;
        let ends = to == Place::Cancelled && scenario.defect != Some(Defect::EndsOverDetached);
        if scenario.defect == Some(Defect::NoWait) {
            true
        } else if ends {
            !(0..self.calls.len()).filter(of_machine).any(is_under_way)
        } else {
            !self.machines[machine].open_calls().any(is_under_way)
        }
    }

    /// Wait: whether a transition without `detach` leaves and enters the same state now. It takes
    /// the calls along that the new entry joins.
    pub(super) fn may_enter_again(
        &self,
        scenario: &Scenario,
        machine: usize,
        gets: &[Gets],
    ) -> bool {
        let is_left_behind =
            |at: usize| self.calls[at].is_under_way(scenario) && !gets.contains(&Gets::Joined(at));
        scenario.defect == Some(Defect::NoWait)
            || !self.machines[machine].open_calls().any(is_left_behind)
    }

    /// Withdraws what has not begun, with its gate, in the batch of a transition that leaves.
    pub(super) fn withdraw(&mut self, scenario: &Scenario, machine: usize) {
        let open: Vec<usize> = self.machines[machine].open_calls().collect();
        for at in open {
            let call = &mut self.calls[at];
            if call.stage == Stage::Pending {
                call.stage = Stage::Withdrawn;
                if scenario.defect != Some(Defect::LeavesGateOpen) {
                    call.gate = Gate::None;
                }
            }
        }
    }

    /// Whether the machine takes the message of this call: it is a call of the current entry,
    /// whichever entry created it.
    pub(super) fn takes(&self, scenario: &Scenario, machine: usize, at: usize) -> bool {
        let (its, call) = (&self.machines[machine], &self.calls[at]);
        let is_bound = scenario.defect == Some(Defect::BindsMessageToEntry);
        let takes_old =
            scenario.defect == Some(Defect::TakesOldOutcome) && its.place == Place::Paying;
        // A twin that joins it sends it again.
        let is_there = !call.taken || scenario.defect == Some(Defect::JoinsTaken);
        let is_member =
            its.open_calls().any(|open| open == at) && (!is_bound || call.ended_in == its.entry);
        is_there && !call.set_aside && (is_member || takes_old)
    }

    /// Whether no entry will take the message of this call. The commit of the next entry
    /// acknowledges it.
    pub(super) fn is_stale(&self, scenario: &Scenario, at: usize) -> bool {
        let call = &self.calls[at];
        let is_member = self.machines[call.machine].open_calls().any(|open| open == at);
        let is_kept = call.is_under_way(scenario)
            || call.is_declined(scenario)
            || scenario.defect == Some(Defect::TakesOldOutcome);
        matches!(call.stage, Stage::Ended(_)) && !is_member && !is_kept
    }

    /// Whether a worker acknowledges a message that the state does not take: never.
    pub(super) fn is_dropped(&self, scenario: &Scenario, at: usize) -> bool {
        let call = &self.calls[at];
        let is_member = self.machines[call.machine].open_calls().any(|open| open == at);
        match scenario.defect {
            Some(Defect::StaleIsTaken) => !is_member,
            Some(Defect::AcknowledgesAlone) => self.is_stale(scenario, at),
            _ => false,
        }
    }

    /// Why a machine stands still, and what a person can do: what views show.
    pub(super) fn needs(&self, scenario: &Scenario, machine: usize) -> Option<Needs> {
        let its = &self.machines[machine];
        if matches!(its.place, Place::Cart | Place::Paused) {
            return Some(Needs::Move);
        }
        its.open_calls().find_map(|at| match &self.calls[at] {
            call if call.set_aside => Some(Needs::Requeue),
            Call { gate: Gate::Open, .. } => Some(Needs::Answer),
            Call { stage: Stage::InDoubt, .. } => Some(Needs::Confirmation),
            Call { stage: Stage::Pending, amount, .. } => {
                self.holder(scenario, *amount).map(|_| Needs::OtherCall)
            }
            _ => None,
        })
    }

    fn position(&self, is: impl Fn(&Call) -> bool) -> Option<usize> {
        self.calls.iter().position(is)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// A transition that a person takes.
    Move,
    /// An answer at the gate.
    Answer,
    /// Of a call in doubt, whether it was paid.
    Confirmation,
    /// The same of a call of another machine, or of an earlier entry, which has the key.
    OtherCall,
    /// A requeue of the outcome message.
    Requeue,
}
