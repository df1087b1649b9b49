//! How machines come to an end: the model's form of "eventually".

use super::{
    act::Act,
    scenario::{Paused, Scenario},
    world::{Gate, Place, Request, Stage, World},
};

/// No end is farther away.
const STEPS: usize = 60;

#[derive(Debug, Clone, Copy)]
struct Helpers {
    /// The bank pays what is on its way.
    pays: bool,
    /// People do what they can.
    people: bool,
}

/// Whatever the bank does, all machines can end: no state is a dead end.
pub(super) fn can_end(scenario: &Scenario, world: &World) -> bool {
    [true, false].into_iter().all(|pays| {
        let world = world.clone().helped(scenario, Helpers { pays, people: true });
        world.machines.iter().all(|machine| machine.place.is_end())
    })
}

/// Without people, every machine ends, or says which act of a person it needs.
pub(super) fn is_named(scenario: &Scenario, world: &World) -> bool {
    let world = world.clone().helped(scenario, Helpers { pays: true, people: false });
    let mut machines = world.machines.iter().enumerate();
    machines.all(|(at, its)| its.place.is_end() || world.needs(scenario, at).is_some())
}

impl World {
    fn helped(mut self, scenario: &Scenario, helpers: Helpers) -> Self {
        for _ in 0..STEPS {
            let calls = (0..self.calls.len()).find_map(|at| self.of_call(scenario, at, helpers));
            let mut machines = 0..self.machines.len();
            let next =
                calls.or_else(|| machines.find_map(|at| self.of_machine(scenario, at, helpers)));
            match next {
                Some(act) => self.step(scenario, act),
                None => break,
            }
        }
        self
    }

    fn of_call(&self, scenario: &Scenario, at: usize, helpers: Helpers) -> Option<Act> {
        let call = &self.calls[at];
        let by_person = |act| helpers.people.then_some(act);
        match call.stage {
            _ if call.request == Request::OnItsWay => {
                Some(if helpers.pays { Act::Pay(at) } else { Act::Lose(at) })
            }
            Stage::Pending if self.done(scenario, call.amount).is_some() => Some(Act::Close(at)),
            Stage::Pending if call.gate == Gate::Open => by_person(Act::Approve(at)),
            Stage::Pending => self.may_begin(scenario, at).then_some(Act::Begin(at)),
            Stage::Begun => Some(Act::Answer(at)),
            Stage::InDoubt => by_person(Act::Confirm(at)),
            Stage::Ended(_) if call.set_aside => by_person(Act::Requeue(at)),
            Stage::Ended(_) => {
                let takes = self.takes(scenario, call.machine, at);
                takes.then_some(Act::Take { machine: call.machine, call: at })
            }
            Stage::Withdrawn => None,
        }
    }

    fn of_machine(&self, scenario: &Scenario, machine: usize, helpers: Helpers) -> Option<Act> {
        let its = &self.machines[machine];
        let may_cancel = self.may_leave(scenario, machine, Place::Cancelled);
        if its.kept && may_cancel {
            return Some(Act::CancelAsAsked(machine));
        }
        let by_person = match (its.place, scenario.paused) {
            (Place::Cart, _) | (Place::Paused, Paused::Resumes) => {
                Some(Act::Enter { machine, set: its.set, approve: false })
            }
            (Place::Paused, Paused::EndsByDetach) => Some(Act::Abandon(machine)),
            (Place::Paused, Paused::Ends) => may_cancel.then_some(Act::Cancel(machine)),
            _ => None,
        };
        by_person.filter(|_| helpers.people)
    }
}
