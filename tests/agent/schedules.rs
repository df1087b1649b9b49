//! Random schedules of requests, most of which make no sense: of unknown and ended turns, under
//! other epochs, with repeated and huge cards, at the ends of time. `MACHINE_TURN_SCHEDULES` sets
//! their number.

use machine::{
    agent::{
        ActiveTurn, AfterExecution, AgentId, MAX_CARD, MemberId, NewAnswer, NewCard, NewDelivery,
        NewMember, NewSource, NewTurn, Phase, SUBMIT_RESULT, StopReason, TurnBatch, TurnEpoch,
        TurnRequest, TurnStatus, WaitOutcome, decide,
    },
    clock::Millis,
};
use machine_tests::random::{Random, setting};

use super::{
    support::{Desk, LATE, agent, card, current, member, new_turn, turn},
    tally::{Tally, has_one_active, stops_children},
};

/// The requests of a schedule.
const REQUESTS: usize = 80;

struct Chaos {
    random: Random,
    desk: Desk,
    tally: Tally,
    cards: u64,
}

impl Chaos {
    fn below(&mut self, limit: u64) -> u64 {
        self.random.number() % limit
    }

    fn agent(&mut self) -> AgentId {
        let name = *self.random.pick(&["planner", "helper", "planner", "helper", "cook"]);
        agent(name)
    }

    /// Mostly the active turn of an agent.
    fn by(&mut self) -> TurnEpoch {
        let agent = self.agent();
        let known = self.desk.rows.heads.contains_key(&agent);
        let real = if known { current(&self.desk.rows, &agent) } else { None };
        let mut by = real.unwrap_or(TurnEpoch { agent, turn: turn(1), epoch: 1 });
        if self.random.percent(5) {
            by.turn = turn(self.below(9));
        }
        if self.random.percent(10) {
            by.epoch = *self.random.pick(&[0, by.epoch.wrapping_sub(1), by.epoch + 1, u64::MAX]);
        }
        by
    }

    /// Mostly a new one.
    fn card(&mut self) -> NewCard {
        self.cards += 1;
        let number = if self.random.percent(3) { 1000 } else { 1000 + self.cards };
        let size = *self.random.pick(&[0, 1, 1, 1, 1, 1, 1, 1, MAX_CARD, MAX_CARD + 1]);
        NewCard { size, ..card(number) }
    }

    fn time(&mut self) -> Millis {
        *self.random.pick(&[0, 0, 0, 0, 0, 4, 5, LATE, Millis::MIN, Millis::MAX])
    }

    fn new_turn(&mut self) -> NewTurn {
        let name = self.agent();
        let mut new = new_turn(&name.0, self.below(9), self.below(4));
        new.task.terms.limits.time_ms =
            *self.random.pick(&[None, None, Some(5), Some(Millis::MAX)]);
        new.task.terms.limits.steps = *self.random.pick(&[None, None, Some(0), Some(1)]);
        new.task.terms.limits.calls = *self.random.pick(&[None, None, Some(2)]);
        if self.random.percent(20) {
            new.task.terms.result_fields.push("summary".to_owned());
        }
        new
    }

    fn member(&mut self, at: u64) -> NewMember {
        let source = match self.below(12) {
            0 => {
                let NewTurn { agent, task, .. } = self.new_turn();
                NewSource::Turn { agent, task }
            }
            3 => NewSource::Closed(self.card()),
            1 => NewSource::Outside,
            _ => NewSource::Execution,
        };
        let deadline = if self.random.percent(80) { Some(self.time()) } else { None };
        let suspend = AfterExecution::Suspend;
        let after = *self.random.pick(&[suspend, suspend, AfterExecution::Terminate]);
        let tool = *self.random.pick(&["read_file", "read_file", "read_file", SUBMIT_RESULT, ""]);
        let tool = if self.random.percent(5) { tool } else { "read_file" }.to_owned();
        NewMember { tool, source, card: self.card(), deadline, after, ..member(at) }
    }

    /// Mostly as many as the answer has.
    fn members(&mut self, by: &TurnEpoch) -> Vec<NewMember> {
        let active = self.desk.rows.heads.get(&by.agent).and_then(|head| head.active.as_ref());
        let wanted = active.map_or(0, |active| u64::from(active.unmade));
        let count = if self.random.percent(90) { wanted } else { self.below(4) };
        (0..count).map(|at| self.member(at)).collect()
    }

    fn answer(&mut self, by: TurnEpoch) -> TurnRequest {
        let calls = *self.random.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 3, u32::MAX]);
        let tokens = if self.random.percent(50) { 1 } else { self.random.number() };
        let (card, now) = (self.card(), self.time());
        TurnRequest::Answered(NewAnswer { by, card, calls, tokens, cost: 1, now })
    }

    /// How a wait ends, mostly in time.
    fn outcome(&mut self) -> WaitOutcome {
        let suspend = Some(AfterExecution::Suspend);
        let after =
            *self.random.pick(&[None, None, None, suspend, Some(AfterExecution::Terminate)]);
        let ended = WaitOutcome::Ended { after };
        *self.random.pick(&[ended, ended, ended, WaitOutcome::TimedOut])
    }

    /// Something that happened to a call outside of the protocol: mostly it ended at once.
    fn end_of(&mut self, member: MemberId) {
        let at = if self.random.percent(30) { self.time() } else { Millis::MIN };
        if self.random.percent(80) {
            self.desk.rows.ends.entry(member).or_insert(at);
        }
    }

    /// What a worker would do next.
    fn next(&mut self) -> TurnRequest {
        let (by, card, now) = (self.by(), self.card(), self.time());
        let active = self.desk.rows.heads.get(&by.agent).and_then(|head| head.active.clone());
        let Some(active) = active else {
            return TurnRequest::Dispatch { agent: by.agent, now };
        };
        match active.phase {
            Phase::Dispatched => TurnRequest::Claim { by },
            Phase::Running { .. } if active.must_deliver() => TurnRequest::Deliver(self.delivery()),
            Phase::Running { answer: None } => self.answer(by),
            Phase::Running { .. } => TurnRequest::Call { members: self.members(&by), by, now },
            Phase::Suspended => {
                let open: Vec<_> = active.waiting.iter().map(|member| member.id).collect();
                let member = *self.random.pick(&open);
                self.end_of(member);
                TurnRequest::Report { by, member, outcome: self.outcome(), card, now }
            }
        }
    }

    fn delivery(&mut self) -> NewDelivery {
        let by = self.by();
        let active = self.desk.rows.heads.get(&by.agent).and_then(|head| head.active.as_ref());
        let open = active.map(ActiveTurn::unanswered).unwrap_or_default();
        let mut results: Vec<_> = open.into_iter().map(|index| (index, self.card())).collect();
        if self.random.percent(10) {
            results.push((0, self.card()));
        }
        let (is_failure, deliverable, now) = (self.random.percent(30), self.card(), self.time());
        let fields = if self.random.percent(50) { vec!["summary".to_owned()] } else { Vec::new() };
        NewDelivery { by, is_failure, deliverable, fields, results, now }
    }

    fn request(&mut self) -> TurnRequest {
        let now = self.time();
        match self.below(28) {
            0 | 1 => TurnRequest::Enqueue { new: self.new_turn(), now },
            2 => TurnRequest::UiAction { new: self.new_turn(), now },
            3 => TurnRequest::Dispatch { agent: self.agent(), now },
            4 => TurnRequest::Claim { by: self.by() },
            5 => TurnRequest::Reclaim { by: self.by() },
            6 | 7 => {
                let by = self.by();
                self.answer(by)
            }
            8 | 9 => {
                let by = self.by();
                TurnRequest::Call { members: self.members(&by), by, now }
            }
            10 | 11 => {
                let by = self.by();
                let (step, index) = (1 + self.random.below(2), self.random.below(3));
                let (step, index) = (u32::try_from(step).unwrap(), u32::try_from(index).unwrap());
                let member = MemberId { turn: by.turn, step, index };
                TurnRequest::Report { by, member, outcome: self.outcome(), card: self.card(), now }
            }
            12 if self.random.percent(30) => {
                TurnRequest::Stop { turn: turn(self.below(9)), why: StopReason::Requested }
            }
            13 => TurnRequest::Deliver(self.delivery()),
            _ => self.next(),
        }
    }

    /// A worker has the current turn and epoch. A dispatch and a takeover raise the epoch; nothing
    /// else changes it.
    fn check_epoch(&self, request: &TurnRequest, batch: &TurnBatch) {
        let by = match request {
            TurnRequest::Claim { by }
            | TurnRequest::Reclaim { by }
            | TurnRequest::Answered(NewAnswer { by, .. })
            | TurnRequest::Call { by, .. }
            | TurnRequest::Report { by, .. }
            | TurnRequest::Deliver(NewDelivery { by, .. }) => Some(by),
            _ => None,
        };
        if let Some(by) = by {
            assert_eq!(current(&self.desk.rows, &by.agent).as_ref(), Some(by), "{request:?}");
        }
        let Some((agent, head)) = &batch.head else { return };
        let before = &self.desk.rows.heads[agent];
        let is_dispatch = before.active.is_none() && head.active.is_some();
        let raises = is_dispatch || matches!(request, TurnRequest::Reclaim { .. });
        assert_eq!(head.epoch, before.epoch + u64::from(raises), "{request:?}");
        assert!(batch.cards.iter().all(|card| card.epoch == before.epoch), "{request:?}");
    }

    /// Returns whether it was accepted.
    fn write(&mut self, request: &TurnRequest) -> bool {
        let Ok(batch) = decide(&self.desk.rows, request) else { return false };
        self.check_epoch(request, &batch);
        self.tally.count(&self.desk.rows, &batch);
        self.desk.rows.apply(&batch);
        let (tally, rows) = (&self.tally, &self.desk.rows);
        assert!(tally.has_one_answer(rows), "{request:?}");
        assert!(tally.has_one_result(rows), "{request:?}");
        assert!(tally.has_one_writer(rows), "{request:?}");
        assert!(tally.keeps_stops() && stops_children(rows), "{request:?}");
        assert!(tally.is_bought_once() && tally.is_delivered(), "{request:?}");
        assert!(has_one_active(rows), "{request:?}");
        true
    }

    /// Stops all turns, and delivers them.
    fn end(&mut self) {
        let turns: Vec<_> = self.desk.rows.turns.keys().copied().collect();
        for turn in turns {
            self.write(&TurnRequest::Stop { turn, why: StopReason::Requested });
        }
        for name in ["planner", "helper"].into_iter().cycle().take(40) {
            let agent = agent(name);
            self.write(&TurnRequest::Dispatch { agent: agent.clone(), now: LATE });
            let Some(by) = current(&self.desk.rows, &agent) else { continue };
            let active = self.desk.rows.heads[&agent].active.clone().unwrap();
            if active.phase == Phase::Dispatched {
                assert!(self.write(&TurnRequest::Claim { by: by.clone() }));
            }
            self.cards += 300;
            let open = active.unanswered().into_iter();
            let results = open.map(|index| (index, card(2001 + self.cards + u64::from(index))));
            let delivery = NewDelivery {
                by,
                is_failure: true,
                deliverable: card(2000 + self.cards),
                fields: Vec::new(),
                results: results.collect(),
                now: LATE,
            };
            assert!(self.write(&TurnRequest::Deliver(delivery)), "{active:?}");
        }
        let is_over = |status| matches!(status, TurnStatus::Delivered { .. });
        assert!(self.desk.rows.turns.values().all(|record| is_over(record.status)));
        assert!(self.desk.rows.boxes.values().all(|used| used.live == 0));
    }
}

#[test]
fn the_invariants_hold_whatever_is_requested() {
    let mut random = Random::of("the_invariants_hold_whatever_is_requested");
    let (mut accepted, mut delivered, mut results) = (0, 0, 0);
    let schedules = setting("MACHINE_TURN_SCHEDULES").unwrap_or(1000);
    for _ in 0..schedules {
        let random = Random::new(random.number());
        let mut chaos = Chaos { random, desk: Desk::new(), tally: Tally::default(), cards: 0 };
        for _ in 0..REQUESTS {
            let request = chaos.request();
            let is_accepted = chaos.write(&request);
            accepted += usize::from(is_accepted);
            let is_report = matches!(request, TurnRequest::Report { .. });
            results += usize::from(is_accepted && is_report);
        }
        chaos.end();
        delivered += chaos.desk.rows.turns.len();
    }
    eprintln!("{accepted} requests accepted, {results} of them results; {delivered} turns");
    // Few schedules may have less.
    let are_few = schedules < 1000;
    assert!(are_few || (accepted > 10 * schedules && delivered > 2 * schedules));
    assert!(are_few || 2 * results > schedules);
}
