//! What an act does. One that is refused changes nothing.

use super::{
    act::Act,
    defect::Defect,
    rules::Gets,
    scenario::{Amount, Each, Scenario},
    world::{Call, Fault, Gate, Member, MemberState, Outcome, Place, Plan, Request, Stage, World},
};

impl World {
    pub(super) fn step(&mut self, scenario: &Scenario, act: Act) {
        match act {
            Act::Enter { machine, set, approve } => {
                let gets = self.gets(scenario, machine, set);
                self.enter(scenario, machine, &Plan { set, approve, gets });
            }
            Act::Plan { machine, set, approve } => {
                let gets = self.gets(scenario, machine, set);
                self.machines[machine].plan = Some(Plan { set, approve, gets });
            }
            Act::EnterAsPlanned(machine) => {
                if let Some(plan) = self.machines[machine].plan.take() {
                    self.enter(scenario, machine, &plan);
                }
            }
            Act::EnterAgain { machine, set, detach } => {
                let mut left = self.clone();
                left.leave(scenario, machine, Place::Paying, detach);
                let gets = left.gets(scenario, machine, set);
                if detach || self.may_enter_again(scenario, machine, &gets) {
                    *self = left;
                    self.enter(scenario, machine, &Plan { set, approve: false, gets });
                }
            }
            Act::Pause(machine) => self.leave(scenario, machine, Place::Paused, true),
            Act::Abandon(machine) => self.leave(scenario, machine, Place::Cancelled, true),
            Act::Ask(machine) => self.machines[machine].kept = true,
            Act::Cancel(machine) | Act::CancelAsAsked(machine) => {
                if self.may_leave(scenario, machine, Place::Cancelled) {
                    self.leave(scenario, machine, Place::Cancelled, false);
                }
            }
            Act::Take { machine, call } => {
                if self.takes(scenario, machine, call) {
                    self.take(scenario, machine, call);
                }
            }
            Act::Pass(at) => self.calls[at].taken |= self.is_dropped(scenario, at),
            Act::Overdue { machine, leaves: true, .. } => {
                let says_detach = scenario.defect != Some(Defect::OverdueIsRefusal);
                self.leave(scenario, machine, Place::Unpaid, says_detach);
            }
            Act::Overdue { machine, call: at, leaves: false } => {
                for member in &mut self.machines[machine].members {
                    if let MemberState::Open { call, overdue } = &mut member.state {
                        *overdue |= *call == at;
                    }
                }
            }
            Act::SetAside(at) => {
                self.left.failures -= 1;
                self.calls[at].set_aside = true;
            }
            Act::Requeue(at) => self.calls[at].set_aside = false,
            act => self.step_of_call(scenario, act),
        }
        self.forget();
    }

    fn step_of_call(&mut self, scenario: &Scenario, act: Act) {
        match act {
            Act::Approve(at) => self.calls[at].gate = Gate::Approved,
            Act::Decline(at) => {
                self.calls[at].gate = Gate::None;
                if self.calls[at].stage == Stage::Pending {
                    self.end(at, Outcome::NotApproved);
                }
            }
            Act::Begin(at) if self.may_begin(scenario, at) => {
                let call = &mut self.calls[at];
                (call.stage, call.request) = (Stage::Begun, Request::OnItsWay);
            }
            Act::Close(at) => {
                if let Some(outcome) = self.done(scenario, self.calls[at].amount) {
                    self.calls[at].gate = Gate::None;
                    self.end(at, outcome);
                }
            }
            Act::Pay(at) => {
                self.calls[at].request = Request::Paid;
                if !scenario.is_idempotent() {
                    self.paid[usize::from(self.calls[at].amount == Amount::Twenty)] += 1;
                }
            }
            Act::Lose(at) => self.calls[at].request = Request::Lost,
            Act::Answer(at) | Act::Confirm(at) => {
                let is_paid = self.calls[at].request == Request::Paid;
                self.end(at, if is_paid { Outcome::Receipt } else { Outcome::NotApplied });
            }
            Act::Crash(at) => {
                self.left.crashes -= 1;
                let call = &mut self.calls[at];
                if scenario.is_idempotent() {
                    (call.stage, call.request) = (Stage::Pending, Request::NotSent);
                } else {
                    call.stage = Stage::InDoubt;
                }
            }
            Act::Override(at) => {
                self.left.overrides -= 1;
                self.overrides += 1;
                self.calls[at].overridden = true;
                self.end(at, Outcome::NotApplied);
            }
            Act::Contradict(at) => self.calls[at].contradicted = true,
            _ => {}
        }
    }

    fn end(&mut self, at: usize, outcome: Outcome) {
        let entry = self.machines[self.calls[at].machine].entry;
        let call = &mut self.calls[at];
        (call.stage, call.ended_in) = (Stage::Ended(outcome), entry);
    }

    fn enter(&mut self, scenario: &Scenario, machine: usize, plan: &Plan) {
        let its = &mut self.machines[machine];
        (its.place, its.set, its.by_detach, its.plan) = (Place::Paying, plan.set, false, None);
        its.entry += 1;
        let entry = its.entry;
        let members = scenario.sets[plan.set].iter().zip(plan.gets.iter().copied());
        for (place, (&amount, gets)) in members.enumerate() {
            let declined = self.declined(scenario, (machine, amount), &plan.gets[..place]);
            if plan.approve && gets == Gets::New && declined.is_some() {
                self.fault = self.fault.or(Some(Fault::AskedAgain));
            }
            let call = match gets {
                Gets::Joined(call) => {
                    self.calls[call].is_known = false;
                    call
                }
                gets => {
                    let (stage, gate) = match gets {
                        Gets::Ended(outcome) => (Stage::Ended(outcome), Gate::None),
                        _ if plan.approve => (Stage::Pending, Gate::Open),
                        _ => (Stage::Pending, Gate::None),
                    };
                    self.calls.push(Call { gate, stage, ..Call::new(machine, entry, amount) });
                    self.calls.len() - 1
                }
            };
            let state = MemberState::Open { call, overdue: false };
            self.machines[machine].members.push(Member { amount, state });
        }
        for at in 0..self.calls.len() {
            let is_its_own = self.calls[at].machine == machine;
            self.calls[at].taken |= is_its_own && self.is_stale(scenario, at);
        }
    }

    fn leave(&mut self, scenario: &Scenario, machine: usize, to: Place, by_detach: bool) {
        self.withdraw(scenario, machine);
        let its = &mut self.machines[machine];
        its.members.clear();
        (its.place, its.plan, its.by_detach) = (to, None, by_detach);
        // Elsewhere, it is set aside.
        its.kept &= matches!(to, Place::Paying | Place::Paused);
    }

    fn take(&mut self, scenario: &Scenario, machine: usize, at: usize) {
        let Stage::Ended(outcome) = self.calls[at].stage else { return };
        let members = &self.machines[machine].members;
        let is_its = |member: &Member| member.open_call() == Some(at);
        let is_open = |member: &Member| member.open_call().is_some();
        // Only a broken twin takes the outcome of a call that is none of the members.
        let Some(place) =
            members.iter().position(is_its).or_else(|| members.iter().position(is_open))
        else {
            return;
        };
        let is_last = members.iter().filter(|member| is_open(member)).count() == 1;
        let leaves = is_last || scenario.each == Each::Leaves;
        let says_detach = match scenario.defect {
            Some(Defect::EachLeavesFreely) => false,
            Some(Defect::EachWaits) => {
                let others = members.iter().filter_map(Member::open_call);
                let mut others = others.filter(|other| *other != at);
                if leaves && others.any(|other| self.calls[other].is_under_way(scenario)) {
                    return;
                }
                false
            }
            _ => !is_last,
        };
        self.check(scenario, machine, place, at, outcome);
        (self.calls[at].taken, self.calls[at].is_known) = (true, true);
        if let Outcome::Differs(by) = outcome {
            self.calls[by].is_known = true;
        }
        let its = &mut self.machines[machine];
        its.plan = None;
        let receipt = outcome == Outcome::Receipt;
        its.members[place].state = MemberState::Taken { receipt };
        if leaves {
            let is_receipt = |member: &Member| member.state == MemberState::Taken { receipt: true };
            let is_paid = its.members.iter().any(is_receipt);
            let to = if is_paid { Place::Paid } else { Place::Unpaid };
            self.leave(scenario, machine, to, says_detach);
        }
    }

    /// Looks for what is wrong with an outcome that is about to be taken.
    fn check(
        &mut self,
        scenario: &Scenario,
        machine: usize,
        place: usize,
        at: usize,
        outcome: Outcome,
    ) {
        let (its, call) = (&self.machines[machine], &self.calls[at]);
        let amount = its.members[place].amount;
        let is_own = call.machine == machine && call.amount == amount;
        let is_old = scenario.is_idempotent() && call.entry != its.entry;
        let is_same = |by: usize| self.calls[by].amount == amount;
        let fault = match outcome {
            _ if call.taken => Some(Fault::TakenTwice),
            _ if is_old => Some(Fault::OldAnswer),
            Outcome::Receipt => (!is_own).then_some(Fault::NoProof),
            Outcome::AlreadyDone(by) => (!is_same(by)).then_some(Fault::Misnamed),
            Outcome::Differs(by) => is_same(by).then_some(Fault::Misnamed),
            Outcome::NotApplied | Outcome::NotApproved => None,
        };
        self.fault = self.fault.or(fault);
    }
}
