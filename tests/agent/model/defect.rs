use machine::agent::{
    AfterExecution, CallSource, Card, CardId, Head, Member, NewAnswer, Phase, StopReason,
    TurnBatch, TurnEnd, TurnRecord, TurnRefusal, TurnRequest, TurnRows, TurnStatus, WaitOutcome,
    decide,
};

use crate::agent::support::card;

/// A defect of the protocol that the checker must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Defect {
    /// A delivery under an old epoch counts.
    DeliversUnderOldEpoch,
    /// A result under an old epoch counts.
    ReportsUnderOldEpoch,
    /// A stop ends the turn without a deliverable.
    StopsWithoutDeliverable,
    /// The event of a turn is a batch of its own, which a crash prevents.
    EventApart,
    /// A takeover keeps the epoch.
    ReclaimsWithoutRaise,
    /// A late result opens its call again.
    LateReopens,
    /// A result stays in the waiting set.
    ResultStays,
    /// A stop drops the calls that are open.
    StopDropsCalls,
    /// A result that empties the set does not let the turn run.
    LastDoesNotRun,
    /// The waiting set is a batch of its own, which a crash prevents.
    SetApart,
    /// A deadline frees its call, which is made again.
    DeadlineFrees,
    /// A worker that has taken over asks the model again.
    AsksAgain,
    /// A turn is dispatched while another one is active.
    DispatchesWhenBusy,
    /// Turns of two agents write to one box.
    SharesBox,
    /// A call to another agent has no deadline.
    WaitsWithoutDeadline,
    /// A turn that is stopped in the queue leaves it.
    StopDropsQueued,
    /// A delivery has no results for calls that were never made.
    ForgetsUnmade,
    /// A step writes the head as it was before the stop.
    StopLost,
    /// A stop leaves the queued turns of the turn alone.
    StopKeepsChildren,
    /// A dispatch keeps the epoch.
    DispatchesWithoutRaise,
    /// A call is written twice.
    WritesCallTwice,
    /// A report has a result for another call, too, which the answer does not have.
    AnswersNoCall,
    /// The event names a card of another batch.
    NamesOtherCard,
}

/// The protocol: the real one, or a broken twin of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Protocol(pub(super) Option<Defect>);

impl Protocol {
    pub(super) fn decide(
        self,
        rows: &TurnRows,
        request: &TurnRequest,
    ) -> Result<TurnBatch, TurnRefusal> {
        let Some(defect) = self.0 else { return decide(rows, request) };
        let (mut rows, mut request) = (rows.clone(), request.clone());
        defect.spoil_question(&mut rows, &mut request);
        let mut batch = match (defect, decide(&rows, &request)) {
            (Defect::LateReopens, Err(TurnRefusal::FinishedCall { .. })) => {
                reopened(&rows, &request)
            }
            (_, answer) => answer?,
        };
        defect.spoil_answer(&rows, &request, &mut batch);
        Ok(batch)
    }
}

impl Defect {
    fn spoil_question(self, rows: &mut TurnRows, request: &mut TurnRequest) {
        match (self, request) {
            (Self::DeliversUnderOldEpoch, TurnRequest::Deliver(new)) => {
                new.by.epoch = rows.heads[&new.by.agent].epoch;
            }
            (Self::ReportsUnderOldEpoch, TurnRequest::Report { by, .. }) => {
                by.epoch = rows.heads[&by.agent].epoch;
            }
            (Self::AsksAgain, TurnRequest::Answered(NewAnswer { by, .. })) => {
                let head = rows.heads.get_mut(&by.agent).unwrap();
                if let Some(active) = &mut head.active
                    && let Phase::Running { answer } = &mut active.phase
                {
                    *answer = None;
                }
            }
            (Self::ForgetsUnmade, TurnRequest::Deliver(new)) => {
                let head = rows.heads.get_mut(&new.by.agent).unwrap();
                if let Some(active) = &mut head.active {
                    active.unmade = 0;
                    new.results.clear();
                }
            }
            (Self::StopLost, TurnRequest::Answered(NewAnswer { by, .. })) => {
                let head = rows.heads.get_mut(&by.agent).unwrap();
                if let Some(active) = &mut head.active {
                    active.stop = None;
                }
            }
            (Self::DispatchesWhenBusy, TurnRequest::Dispatch { agent, .. }) => {
                rows.heads.get_mut(agent).unwrap().active = None;
            }
            (Self::SharesBox, TurnRequest::Enqueue { .. } | TurnRequest::Dispatch { .. }) => {
                rows.boxes.clear();
            }
            _ => {}
        }
    }

    fn spoil_answer(self, rows: &TurnRows, request: &TurnRequest, batch: &mut TurnBatch) {
        let active = batch.head.as_mut().and_then(|(_, head)| head.active.as_mut());
        match (self, request, active) {
            (Self::EventApart, TurnRequest::Deliver(_), _) => batch.event = None,
            (Self::ReclaimsWithoutRaise, TurnRequest::Reclaim { by }, _) => {
                batch.head.as_mut().unwrap().1.epoch = by.epoch;
            }
            (Self::StopKeepsChildren, TurnRequest::Stop { turn, .. }, _) => {
                batch.turns.retain(|it, _| it == turn);
            }
            (Self::DispatchesWithoutRaise, TurnRequest::Dispatch { agent, .. }, _) => {
                if let Some((_, head)) = &mut batch.head {
                    head.epoch = rows.heads[agent].epoch;
                }
            }
            (Self::WritesCallTwice, TurnRequest::Call { .. }, _) => {
                let first = batch.cards.first().copied();
                batch.cards.extend(first);
            }
            (Self::SetApart, TurnRequest::Call { .. }, _) => batch.head = None,
            (
                Self::DeadlineFrees,
                TurnRequest::Report { by, outcome: WaitOutcome::TimedOut, .. },
                Some(active),
            ) => {
                *active = rows.heads[&by.agent].active.clone().unwrap();
                active.phase = Phase::Running { answer: Some(card(1).id) };
                active.unmade = active.calls;
                active.waiting.clear();
                batch.cards.clear();
            }
            (Self::AnswersNoCall, TurnRequest::Report { .. }, _) => {
                let first = batch.cards.first().copied();
                batch.cards.extend(first.map(|card| Card { index: 7, ..card }));
            }
            (Self::NamesOtherCard, TurnRequest::Deliver(_), _) => {
                batch.event.as_mut().unwrap().deliverable = card(99).id;
            }
            (Self::StopDropsCalls, TurnRequest::Stop { .. }, Some(active)) => {
                active.waiting.clear();
            }
            (Self::ResultStays, TurnRequest::Report { by, .. }, Some(active)) => {
                let before = rows.heads[&by.agent].active.clone().unwrap();
                *active = before;
            }
            (Self::LastDoesNotRun, TurnRequest::Report { .. }, Some(active))
                if active.waiting.is_empty() =>
            {
                active.phase = Phase::Suspended;
            }
            (Self::WaitsWithoutDeadline, TurnRequest::Call { .. }, Some(active)) => {
                for member in &mut active.waiting {
                    member.deadline = None;
                }
            }
            (Self::StopsWithoutDeliverable, TurnRequest::Stop { turn, .. }, Some(active)) => {
                let deliverable = CardId(turn.0);
                let end = TurnEnd::Stopped(StopReason::Requested);
                let status = TurnStatus::Delivered { end, deliverable, at: active.dispatched_at };
                let record = TurnRecord { status, ..rows.turns[turn].clone() };
                batch.turns.insert(*turn, record);
                let (_, head) = batch.head.as_mut().unwrap();
                *head = Head { active: None, ..head.clone() };
            }
            (Self::StopDropsQueued, TurnRequest::Stop { turn, .. }, None) => {
                let deliverable = CardId(turn.0);
                let end = TurnEnd::Stopped(StopReason::Requested);
                let status = TurnStatus::Delivered { end, deliverable, at: 0 };
                batch.turns.get_mut(turn).unwrap().status = status;
            }
            _ => {}
        }
    }
}

/// The turn waits for the call again.
fn reopened(rows: &TurnRows, request: &TurnRequest) -> TurnBatch {
    let TurnRequest::Report { by, member, outcome, .. } = request else {
        return TurnBatch::default();
    };
    let mut head = rows.heads[&by.agent].clone();
    let active = head.active.as_mut().unwrap();
    let WaitOutcome::Ended { .. } = outcome else { return TurnBatch::default() };
    active.waiting.push(Member {
        id: *member,
        call_id: String::new(),
        source: CallSource::Outside,
        deadline: None,
        after: AfterExecution::Suspend,
    });
    active.phase = Phase::Suspended;
    TurnBatch { head: Some((by.agent.clone(), head)), ..TurnBatch::default() }
}
