//! How turns come to an end: the model's form of "eventually".

use machine::agent::{CallSource, Member, StopReason, TurnRequest, TurnStatus};

use super::{
    act::{Act, Work},
    scenario::{AGENTS, Scenario},
    world::World,
};
use crate::agent::support::{EARLY, LATE, agent, current};

/// No end is farther away.
const STEPS: usize = 80;

/// Whatever the services do, one worker that does not fail delivers all turns.
pub(super) fn can_end(scenario: &Scenario, world: &World) -> bool {
    [true, false].into_iter().all(|services_answer| {
        let mut world = world.clone();
        for name in AGENTS {
            if let Some(by) = current(&world.rows, &agent(name)) {
                drop(world.write(scenario.protocol, &TurnRequest::Reclaim { by }));
            }
        }
        for _ in 0..STEPS {
            if !world.advance(scenario, services_answer) {
                break;
            }
        }
        let is_over = |status| matches!(status, TurnStatus::Delivered { .. });
        world.rows.turns.values().all(|record| is_over(record.status))
    })
}

impl World {
    /// Does what can be done next; false if nothing can be done.
    fn advance(&mut self, scenario: &Scenario, services_answer: bool) -> bool {
        let works = [Work::Claim, Work::Answer, Work::Call, Work::Deliver];
        let reports = (0..3).map(Work::Report);
        let works: Vec<Work> = works.into_iter().chain(reports).collect();
        for (at, name) in AGENTS.into_iter().enumerate() {
            let name = agent(name);
            let Some(by) = current(&self.rows, &name) else {
                let dispatched = self.write(scenario.protocol, &Act::dispatch(at, self));
                if dispatched.is_ok_and(|batch| batch.head.is_some()) {
                    return true;
                }
                continue;
            };
            for work in &works {
                let request = self.request(scenario, &by, *work);
                if request.is_some_and(|it| self.write(scenario.protocol, &it).is_ok()) {
                    return true;
                }
            }
        }
        let running = self.running().next();
        match running {
            Some(member) if services_answer => {
                self.rows.ends.insert(member, self.now);
                true
            }
            _ if self.now == EARLY => {
                self.now = LATE;
                true
            }
            _ => self.stop_waiting(scenario),
        }
    }

    /// A person stops a turn that waits for a person.
    fn stop_waiting(&mut self, scenario: &Scenario) -> bool {
        let is_endless = |member: &Member| {
            member.deadline.is_none() && !matches!(member.source, CallSource::Turn(_))
        };
        let mut active = self.rows.heads.values().filter_map(|head| head.active.as_ref());
        let waiting = active.find(|it| it.stop.is_none() && it.waiting.iter().any(is_endless));
        let Some(turn) = waiting.map(|active| active.id) else { return false };
        let stop = TurnRequest::Stop { turn, why: StopReason::Requested };
        self.write(scenario.protocol, &stop).is_ok()
    }
}
