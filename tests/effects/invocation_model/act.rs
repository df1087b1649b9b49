//! What can happen next.

use super::{
    scenario::{Paused, Scenario},
    world::{Call, Gate, MemberState, Place, Request, Stage, World},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// A transition into PAYING.
    Enter {
        machine: usize,
        set: usize,
        approve: bool,
    },
    /// A program reads what it needs for such a transition.
    Plan {
        machine: usize,
        set: usize,
        approve: bool,
    },
    /// It commits the transition.
    EnterAsPlanned(usize),
    /// A transition from PAYING to PAYING, which enters again.
    EnterAgain {
        machine: usize,
        set: usize,
        detach: bool,
    },
    /// A transition to PAUSED, with `detach`.
    Pause(usize),
    /// A transition to CANCELLED, with `detach`.
    Abandon(usize),
    /// A commit to CANCELLED, without `detach`. If it has to wait, it is refused.
    Cancel(usize),
    /// A message to cancel arrives, or a deadline is due.
    Ask(usize),
    /// A worker tries it. If it has to wait, it is kept.
    CancelAsAsked(usize),
    /// An outcome message moves the machine.
    Take {
        machine: usize,
        call: usize,
    },
    /// A worker finds a message that the state does not take.
    Pass(usize),
    /// The time of `within` has passed.
    Overdue {
        machine: usize,
        call: usize,
        leaves: bool,
    },
    /// The attempts at an outcome message are used up.
    SetAside(usize),
    Requeue(usize),
    Approve(usize),
    /// A person declines. A gate that expires is like a request that is lost.
    Decline(usize),
    /// A worker takes the key and gives the permit.
    Begin(usize),
    /// A worker finds that the key was applied.
    Close(usize),
    /// The bank pays.
    Pay(usize),
    /// The bank refuses, or the request never arrives.
    Lose(usize),
    /// The call returns.
    Answer(usize),
    /// The worker ends in the middle of the call.
    Crash(usize),
    /// A late answer, the bank's answer to a question, or a person who looked at the account.
    Confirm(usize),
    /// A person who takes responsibility says that it was not paid.
    Override(usize),
    /// A receipt arrives after that.
    Contradict(usize),
}

impl World {
    pub(super) fn acts(&self, scenario: &Scenario, acts: &mut Vec<Act>) {
        for machine in 0..self.machines.len() {
            self.entries(scenario, machine, acts);
            self.departures(scenario, machine, acts);
        }
        for (at, call) in self.calls.iter().enumerate() {
            self.acts_of(at, call, acts);
        }
    }

    fn entries(&self, scenario: &Scenario, machine: usize, acts: &mut Vec<Act>) {
        let its = &self.machines[machine];
        let may_enter = match its.place {
            Place::Paying | Place::Cancelled => false,
            Place::Paused => scenario.paused == Paused::Resumes,
            Place::Cart | Place::Paid | Place::Unpaid => true,
        };
        if its.entry == scenario.entries[machine] {
            return;
        }
        if its.place == Place::Paying {
            for set in 0..scenario.sets.len() {
                let ways = [false, true];
                acts.extend(ways.map(|detach| Act::EnterAgain { machine, set, detach }));
            }
        }
        if !may_enter {
            return;
        }
        if its.plan.is_some() {
            acts.push(Act::EnterAsPlanned(machine));
        }
        for set in 0..scenario.sets.len() {
            for &approve in scenario.approve {
                acts.push(if scenario.reads_before {
                    Act::Plan { machine, set, approve }
                } else {
                    Act::Enter { machine, set, approve }
                });
            }
        }
    }

    fn departures(&self, scenario: &Scenario, machine: usize, acts: &mut Vec<Act>) {
        let its = &self.machines[machine];
        match its.place {
            Place::Paying => acts.extend([
                Act::Ask(machine),
                Act::Cancel(machine),
                Act::Abandon(machine),
                Act::Pause(machine),
            ]),
            Place::Paused if scenario.paused == Paused::EndsByDetach => {
                acts.push(Act::Abandon(machine));
            }
            Place::Paused => acts.extend([Act::Ask(machine), Act::Cancel(machine)]),
            Place::Cart | Place::Paid | Place::Unpaid | Place::Cancelled => {}
        }
        if its.kept {
            acts.push(Act::CancelAsAsked(machine));
        }
        for member in &its.members {
            let MemberState::Open { call, overdue: false } = member.state else { continue };
            if scenario.within && !matches!(self.calls[call].stage, Stage::Ended(_)) {
                acts.extend([false, true].map(|leaves| Act::Overdue { machine, call, leaves }));
            }
        }
    }

    fn acts_of(&self, at: usize, call: &Call, acts: &mut Vec<Act>) {
        if call.request == Request::OnItsWay {
            acts.extend([Act::Pay(at), Act::Lose(at)]);
        }
        if call.gate == Gate::Open {
            acts.extend([Act::Approve(at), Act::Decline(at)]);
        }
        let has_arrived = call.request != Request::OnItsWay;
        match call.stage {
            Stage::Pending => acts.extend([Act::Begin(at), Act::Close(at)]),
            Stage::Begun => {
                acts.extend(has_arrived.then_some(Act::Answer(at)));
                acts.extend((self.left.crashes > 0).then_some(Act::Crash(at)));
            }
            Stage::InDoubt => {
                acts.extend(has_arrived.then_some(Act::Confirm(at)));
                acts.extend((self.left.overrides > 0).then_some(Act::Override(at)));
            }
            Stage::Ended(_) => {
                let may_arrive = call.overridden && call.request == Request::Paid;
                acts.extend(may_arrive.then_some(Act::Contradict(at)));
                let machines = 0..self.machines.len();
                acts.extend(machines.map(|machine| Act::Take { machine, call: at }));
                if call.set_aside {
                    acts.push(Act::Requeue(at));
                } else if !call.taken {
                    acts.push(Act::Pass(at));
                    acts.extend((self.left.failures > 0).then_some(Act::SetAside(at)));
                }
            }
            Stage::Withdrawn => {}
        }
    }
}
