//! What an act does. One that is refused changes nothing.

use machine::agent::{
    AfterExecution, CardKind, Phase, Resource, StopReason, TurnRefusal, TurnRequest, TurnStatus,
    WaitOutcome,
};

use super::{
    act::{Act, Work},
    scenario::{AGENTS, Reached, Scenario},
    world::{Fault, World, agent_of},
};
use crate::agent::support::{LATE, agent, current};

impl World {
    pub(super) fn step(&mut self, scenario: &Scenario, act: Act) {
        let protocol = scenario.protocol;
        match act {
            Act::Enqueue(at) => {
                let (new, now) = (scenario.turn(at), self.now);
                let request = if scenario.turns[at].at_once {
                    TurnRequest::UiAction { new, now }
                } else {
                    TurnRequest::Enqueue { new, now }
                };
                match self.write(protocol, &request) {
                    Err(TurnRefusal::Busy { .. }) => scenario.reach(Reached::Busy),
                    Err(TurnRefusal::BoxTaken { .. }) => scenario.reach(Reached::BoxRefused),
                    _ => {}
                }
            }
            Act::Dispatch(at) => drop(self.write(protocol, &Act::dispatch(at, self))),
            Act::Take { worker, agent: at } => {
                self.workers[worker] = current(&self.rows, &agent(AGENTS[at]));
                self.leases[at] = self.workers[worker].as_ref().map(|_| worker);
            }
            Act::TakeOver { worker, agent: at } => {
                let Some(by) = current(&self.rows, &agent(AGENTS[at])) else { return };
                if self.write(protocol, &TurnRequest::Reclaim { by }).is_ok() {
                    self.left.takeovers -= 1;
                    self.workers[worker] = current(&self.rows, &agent(AGENTS[at]));
                    self.leases[at] = Some(worker);
                }
            }
            Act::Crash(worker) => {
                self.left.crashes -= 1;
                self.workers[worker] = None;
            }
            Act::GiveBack(worker) => self.give_back(worker),
            Act::Work(worker, work) => self.work(scenario, worker, work),
            Act::Stop(turn) => {
                let was = self.rows.turns[&turn].status;
                let request = TurnRequest::Stop { turn, why: StopReason::Requested };
                let waits = self.rows.heads.values().filter_map(|head| head.active.as_ref());
                let mut waits = waits.filter(|active| active.phase == Phase::Suspended);
                let waits = waits.any(|active| active.id == turn);
                if let Ok(batch) = self.write(protocol, &request) {
                    self.left.stops -= 1;
                    if batch.turns.values().any(|it| it.stop == Some(StopReason::Parent)) {
                        scenario.reach(Reached::ChildStopped);
                    }
                    if was == TurnStatus::Queued {
                        scenario.reach(Reached::StoppedInQueue);
                    }
                    if waits {
                        scenario.reach(Reached::StoppedWhileWaiting);
                    }
                }
            }
            Act::Limit(turn) => {
                let why = StopReason::Limit(Resource::Time);
                let request = TurnRequest::Stop { turn, why };
                if self.write(protocol, &request).is_ok() {
                    scenario.reach(Reached::TimeLimit);
                }
            }
            Act::End(member) => drop(self.rows.ends.insert(member, self.now)),
            Act::Tick => {
                self.left.ticks -= 1;
                self.now = LATE;
            }
        }
    }

    /// Only a turn that waits, or that has ended, is given back.
    fn give_back(&mut self, worker: usize) {
        let Some(by) = self.workers[worker].clone() else { return };
        let active = self.rows.heads[&by.agent].active.as_ref();
        let at = agent_of(&by);
        if self.leases[at] != Some(worker) {
            // It learns that it has lost the turn.
            self.workers[worker] = None;
        } else if active.is_none_or(|active| active.phase == Phase::Suspended) {
            (self.workers[worker], self.leases[at]) = (None, None);
        }
    }

    fn work(&mut self, scenario: &Scenario, worker: usize, work: Work) {
        let Some(by) = self.workers[worker].clone() else { return };
        let Some(request) = self.request(scenario, &by, work) else { return };
        let at = agent_of(&by);
        let has_turn = self.leases[at] == Some(worker);
        let active = self.rows.heads[&by.agent].active.as_ref();
        let has_unmade = active.is_some_and(|active| active.unmade > 0);
        let mut waiting = active.iter().flat_map(|active| &active.waiting);
        let has_ended = waiting.any(|member| self.rows.ends.contains_key(&member.id));
        match self.write(scenario.protocol, &request) {
            Ok(_) if !has_turn => drop(self.faults.insert(Fault::StaleWrote)),
            Ok(batch) => {
                if let TurnRequest::Report { outcome: WaitOutcome::TimedOut, .. } = request {
                    scenario.reach(Reached::TimedOut);
                }
                let is_call = matches!(request, TurnRequest::Call { .. });
                if is_call && batch.cards.iter().any(|card| card.kind == CardKind::ToolResult) {
                    scenario.reach(Reached::Denied);
                }
                if batch.event.is_some() && batch.cards.len() > 1 && has_unmade {
                    scenario.reach(Reached::NeverStarted);
                }
                if batch.event.is_some() && has_ended {
                    scenario.reach(Reached::DeliveredUnreported);
                }
                let head = batch.head.and_then(|(_, head)| head.active);
                if head.is_some_and(|turn| turn.after_step == AfterExecution::Terminate) {
                    scenario.reach(Reached::Terminated);
                }
                if batch.event.is_some_and(|event| event.parent.is_some()) {
                    scenario.reach(Reached::Delegated);
                }
                if self.rows.heads[&by.agent].active.is_none() {
                    (self.workers[worker], self.leases[at]) = (None, None);
                }
            }
            Err(TurnRefusal::StaleEpoch { .. }) => scenario.reach(Reached::StaleRefused),
            Err(TurnRefusal::FinishedCall { .. }) => scenario.reach(Reached::LateRefused),
            Err(_) => {}
        }
    }
}
