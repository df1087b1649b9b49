use std::sync::Arc;

use super::tours::tour;
use crate::{
    clock::Millis,
    id::Id,
    store::{
        backend::{Condition, FoundRow, Row, WorkRows, WriteBatch},
        inbox::{
            outcome::OutcomePlace,
            protocol::{
                AfterMove, Attempted, Claim, Event, Fail, Moved, MovedBy, Schedule, Switch, Wait,
            },
        },
    },
};

/// The defect of a broken twin. The simulation must catch each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Defect {
    /// The token of a write is not compared with that of the lease.
    NoTokenCheck,
    /// A lease that has ended is taken over without a new token.
    RescueByTime,
    /// A message counts as handled before its transition is written.
    AcknowledgesEarly,
    /// A machine is parked although its holder has not seen the current revision.
    ForgetsRevision,
    /// A message that is sent again is another message.
    ForgetsCorrelation,
    /// A deadline that is due comes before all messages.
    DeadlineFirst,
    /// A service promises that nothing of a call runs once its future and its guards are gone,
    /// while its client does.
    ClaimsConfined,
    /// A machine that takes the outcome of a call leaves no mark that it did.
    ForgetsTaken,
    /// A state that is entered again knows nothing of its calls that are under way.
    NeverJoins,
    /// A machine that joins a call does not look whether its outcome is there.
    JoinsAsleep,
    /// A state takes an outcome that an earlier visit has left.
    TakesOldOutcome,
    /// A call begins although a deadline of its machine is due.
    BeginsFirst,
    /// A move out of a state ends none of its calls, and they can be approved and begin later.
    LeavesCalls,
}

impl Defect {
    /// Applies the defect to a batch; returns the batch to write before it, if there is one.
    pub(super) fn spoil(
        self,
        batch: &mut WriteBatch,
        stored: impl Fn(Id) -> Option<Schedule>,
    ) -> Option<WriteBatch> {
        if self == Self::LeavesCalls {
            leave_calls(batch);
        }
        let current = |id: Id| stored(id).map_or(0, |work| work.token);
        let mut before = None;
        let mut asleep = Vec::new();
        let joins = batch.moved_children.iter().any(|(_, it)| it.position.is_some());
        for (id, event) in &mut batch.events {
            match (self, event) {
                (Self::RescueByTime, Event::Claim(Claim { token, .. })) => *token = current(*id),
                (Self::NoTokenCheck | Self::RescueByTime, event) => {
                    if let Some(token) = token_of(event) {
                        *token = current(*id);
                    }
                }
                (
                    Self::AcknowledgesEarly,
                    Event::Moved(Moved { token, handled, max_attempts, .. }),
                ) => {
                    let Some(correlation) = handled.take() else { continue };
                    let event = Event::Moved(Moved {
                        token: *token,
                        revision: 0,
                        by: MovedBy::Input,
                        handled: Some(correlation),
                        refused: Vec::new(),
                        next: AfterMove::Go(Attempted::Recheck),
                        max_attempts: *max_attempts,
                    });
                    let first = WriteBatch::new(batch.commit_id.wrapping_add(1), batch.now);
                    before = Some(WriteBatch { events: vec![(*id, event)], ..first });
                }
                (Self::ForgetsTaken, Event::Moved(Moved { handled, .. })) => {
                    let place = handled.as_deref().and_then(OutcomePlace::of);
                    if matches!(place, Some(OutcomePlace::Execution(_))) {
                        *handled = None;
                        let is_kept =
                            |it: &Condition| !matches!(it, Condition::NoCallUnderWay { .. });
                        batch.conditions.retain(is_kept);
                    }
                }
                (Self::JoinsAsleep, Event::Moved(moved))
                    if joins && matches!(moved.next, AfterMove::Yield { .. }) =>
                {
                    moved.next = AfterMove::Go(Attempted::Recheck);
                    let (token, revision, now) = (moved.token, moved.revision, batch.now);
                    let write = batch.writes.iter().find(|write| write.row.id == *id);
                    let due_at = write.and_then(|write| write.row.due_at);
                    let wait = Wait { token, revision, now, due_at, ..Wait::default() };
                    asleep.push((*id, Event::Wait(wait)));
                }
                (Self::ForgetsRevision, Event::Wait(Wait { revision, .. })) => {
                    *revision = stored(*id).map_or(0, |work| work.revision);
                }
                (Self::ForgetsCorrelation, Event::Send { message, .. }) => {
                    let message = Arc::make_mut(message);
                    message.correlation = format!("{}-{}", message.correlation, batch.commit_id);
                }
                _ => {}
            }
        }
        batch.events.extend(asleep);
        before
    }

    /// Applies the defect to the token and the messages that workers see.
    pub(super) fn spoil_task(self, (found, work, messages): &mut WorkRows, is_holder: bool) {
        if let (Self::BeginsFirst, FoundRow::Row(row, _), Some(work)) = (self, found, &mut *work)
            && row.machine == tour::DEFINITION.name
        {
            // As if a worker had tried what is due.
            (work.lease, work.wake) = (None, None);
        }
        if self == Self::DeadlineFirst {
            for message in messages.iter_mut() {
                message.sent_at = Millis::MAX;
            }
        }
        if let (Self::RescueByTime, Some(work)) = (self, work) {
            // All leases have the token 1.
            work.token = u64::from(work.lease.is_some() && is_holder);
        }
    }
}

fn leave_calls(batch: &mut WriteBatch) {
    batch.conditions.retain(|it| !matches!(it, Condition::StateNotLeft { .. }));
    if batch.writes.iter().any(|write| write.row.machine == tour::DEFINITION.name) {
        let is_call = |row: &Row| row.machine == "execution";
        batch.writes.retain(|write| !is_call(&write.row) || write.row.status != "cancelled");
        batch.moved_children.retain(|(_, it)| it.position.is_some());
    }
}

/// The token with which a holder shows that it has the lease.
pub(super) fn token_of(event: &mut Event) -> Option<&mut u64> {
    match event {
        Event::Renew { token, .. }
        | Event::Moved(Moved { token, .. })
        | Event::Acknowledge { token, .. }
        | Event::Switch(Switch { token, .. })
        | Event::Wait(Wait { token, .. })
        | Event::Fail(Fail { token, .. })
        | Event::HandBack { token, .. } => Some(token),
        Event::Claim(_)
        | Event::Drive { .. }
        | Event::Send { .. }
        | Event::Notify { .. }
        | Event::ChildEnded { .. }
        | Event::Left
        | Event::End
        | Event::Requeue { .. } => None,
    }
}
