//! What can happen next.

use machine::agent::{
    ActiveTurn, CallSource, MemberId, NewAnswer, NewDelivery, NewMember, NewSource, Phase,
    TurnEpoch, TurnId, TurnRequest, TurnStatus, WaitOutcome,
};

use super::{
    scenario::{AGENTS, Scenario, WORKERS, Wanted},
    world::World,
};
use crate::agent::support::{DEADLINE, EARLY, LATE, agent, card};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// A program enqueues a turn, or an action of a person does.
    Enqueue(usize),
    Dispatch(usize),
    /// A worker takes a turn that no other one has.
    Take {
        worker: usize,
        agent: usize,
    },
    /// A worker takes over a turn whose lease has expired. The other one may go on.
    TakeOver {
        worker: usize,
        agent: usize,
    },
    Crash(usize),
    /// A worker gives back a turn that waits.
    GiveBack(usize),
    Work(usize, Work),
    Stop(TurnId),
    Limit(TurnId),
    /// An execution ends, or an answer comes from outside.
    End(MemberId),
    Tick,
}

/// What a worker does with its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Claim,
    Answer,
    Call,
    Report(u32),
    Deliver,
}

impl World {
    pub(super) fn acts(&self, scenario: &Scenario, acts: &mut Vec<Act>) {
        acts.extend((0..scenario.turns.len()).map(Act::Enqueue));
        for agent in 0..AGENTS.len() {
            acts.push(Act::Dispatch(agent));
            // Workers are alike.
            let free = (0..WORKERS).find(|worker| self.workers[*worker].is_none());
            if let Some(worker) = free {
                match self.leases[agent] {
                    None => acts.push(Act::Take { worker, agent }),
                    Some(_) if self.left.takeovers > 0 => {
                        acts.push(Act::TakeOver { worker, agent });
                    }
                    Some(_) => {}
                }
            }
        }
        for worker in (0..WORKERS).filter(|worker| self.workers[*worker].is_some()) {
            acts.push(Act::GiveBack(worker));
            acts.extend((self.left.crashes > 0).then_some(Act::Crash(worker)));
            let works = [Work::Claim, Work::Answer, Work::Call, Work::Deliver];
            acts.extend(works.map(|work| Act::Work(worker, work)));
            acts.extend((0..3).map(|index| Act::Work(worker, Work::Report(index))));
        }
        for (turn, record) in &self.rows.turns {
            let is_over = matches!(record.status, TurnStatus::Delivered { .. });
            acts.extend((self.left.stops > 0 && !is_over).then_some(Act::Stop(*turn)));
            let is_timed = record.task.terms.limits.time_ms.is_some();
            let is_due = self.now == LATE && is_timed && record.status == TurnStatus::Active;
            acts.extend(is_due.then_some(Act::Limit(*turn)));
        }
        acts.extend(self.running().map(Act::End));
        acts.extend((self.left.ticks > 0 && self.now == EARLY).then_some(Act::Tick));
    }

    /// The calls to services that have not ended. They run on after their turn.
    pub(super) fn running(&self) -> impl Iterator<Item = MemberId> {
        let open = self.rows.heads.values().filter_map(|head| head.active.as_ref());
        let open = open.flat_map(|active| active.waiting.iter());
        let open = open.filter(|member| !matches!(member.source, CallSource::Turn(_)));
        open.map(|member| member.id).filter(|id| !self.rows.ends.contains_key(id))
    }

    /// The request of a worker that believes to have this turn, from the newest state of it.
    pub(super) fn request(
        &self,
        scenario: &Scenario,
        by: &TurnEpoch,
        work: Work,
    ) -> Option<TurnRequest> {
        let active = self.rows.heads[&by.agent].active.as_ref()?;
        let (by, now) = (by.clone(), self.now);
        match work {
            Work::Claim => Some(TurnRequest::Claim { by }),
            Work::Answer => {
                let wanted = scenario.calls(active.id).len();
                let calls = if active.step > 1 { 0 } else { u32::try_from(wanted).unwrap() };
                let (tokens, cost, card) = (1, 1, card(1));
                Some(TurnRequest::Answered(NewAnswer { by, card, calls, tokens, cost, now }))
            }
            Work::Call => {
                let wanted = scenario.calls(active.id);
                if active.step > 1 || wanted.is_empty() {
                    return None;
                }
                let members = (0..).zip(wanted);
                let members =
                    members.map(|(index, wanted)| member(scenario, active, index, *wanted));
                Some(TurnRequest::Call { by, members: members.collect(), now })
            }
            Work::Report(index) => {
                // A result of the first step that comes late, too.
                let is_made = active.step > 1 || index < active.calls;
                let id = MemberId { turn: active.id, step: 1, index };
                let outcome = self.wait_outcome(active, id).filter(|_| is_made)?;
                Some(TurnRequest::Report { by, member: id, outcome, card: card(1), now })
            }
            Work::Deliver => {
                // A turn whose model wants calls does not end before them.
                let is_early = active.step == 1
                    && !active.must_deliver()
                    && (active.phase == Phase::Running { answer: None } || active.unmade > 0);
                if is_early {
                    return None;
                }
                let open = active.unanswered().into_iter();
                Some(TurnRequest::Deliver(NewDelivery {
                    by,
                    is_failure: false,
                    deliverable: card(1),
                    fields: Vec::new(),
                    results: open.map(|index| (index, card(u64::from(index) + 2))).collect(),
                    now,
                }))
            }
        }
    }

    /// How a call that has ended, or is overdue, is reported.
    fn wait_outcome(&self, active: &ActiveTurn, id: MemberId) -> Option<WaitOutcome> {
        let member = active.member(id);
        let ended = match member.map(|member| member.source) {
            Some(CallSource::Turn(turn)) => match self.rows.turns[&turn].status {
                TurnStatus::Delivered { at, .. } => Some(at),
                TurnStatus::Queued | TurnStatus::Active => None,
            },
            _ => self.rows.ends.get(&id).copied(),
        };
        // A result that comes late is of a call that had a deadline.
        let due = member.map_or(Some(DEADLINE), |member| member.deadline);
        match ended {
            Some(at) if due.is_none_or(|due| at < due) => Some(WaitOutcome::Ended { after: None }),
            _ => due.is_some_and(|due| self.now >= due).then_some(WaitOutcome::TimedOut),
        }
    }
}

fn member(scenario: &Scenario, active: &ActiveTurn, index: u64, wanted: Wanted) -> NewMember {
    let source = match wanted {
        Wanted::Execution | Wanted::Last => NewSource::Execution,
        Wanted::Outside | Wanted::Person => NewSource::Outside,
        Wanted::Denied => NewSource::Closed(card(index + 10)),
        Wanted::Other(output) => scenario.child(active.id, output),
    };
    NewMember {
        tool: "tool".to_owned(),
        call_id: format!("call_{index}"),
        card: card(index + 1),
        source,
        deadline: (wanted != Wanted::Person).then_some(DEADLINE),
        after: wanted.after(),
    }
}

impl Act {
    /// The dispatch for the agent with this place.
    pub(super) fn dispatch(at: usize, world: &World) -> TurnRequest {
        TurnRequest::Dispatch { agent: agent(AGENTS[at]), now: world.now }
    }
}
