use std::sync::Arc;

use crate::{
    clock::Millis,
    id::Id,
    store::{
        backend::{WorkRows, WriteBatch},
        inbox::protocol::{
            AfterMove, Attempted, Claim, Event, Fail, Moved, Schedule, Switch, Wait,
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
    /// A service promises that nothing of a call runs once its future and its guards are gone, while its client does.
    ClaimsConfined,
}

impl Defect {
    /// Applies the defect to a batch; returns the batch to write before it, if there is one.
    pub(super) fn spoil(
        self,
        batch: &mut WriteBatch,
        stored: impl Fn(Id) -> Option<Schedule>,
    ) -> Option<WriteBatch> {
        let current = |id: Id| stored(id).map_or(0, |work| work.token);
        let mut before = None;
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
                        by_handler: false,
                        handled: Some(correlation),
                        refused: Vec::new(),
                        next: AfterMove::Go(Attempted::Recheck),
                        max_attempts: *max_attempts,
                    });
                    let first = WriteBatch::new(batch.commit_id.wrapping_add(1), batch.now);
                    before = Some(WriteBatch { events: vec![(*id, event)], ..first });
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
        before
    }

    /// Applies the defect to the token and the messages that workers see.
    pub(super) fn spoil_task(self, (_, work, messages): &mut WorkRows, is_holder: bool) {
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
