//! Machines that wait until something changes.

use std::time::Duration;

use tracing::field::display;

use super::{Flow, Handler, Job, kind};
use crate::{
    clock::{Millis, later, millis_between},
    effects::error::EffectError,
    store::{
        Cause, CommitError, Unavailable,
        inbox::protocol::{self, Attempted, Event, EventOutcome, Wait, Wake},
    },
    telemetry,
    worker::{Task, shared::SKIP_FOR},
};

#[derive(Clone, Copy)]
pub(super) enum Again {
    /// When something changes.
    OnNews,
    /// After this time, too.
    After(Duration),
    /// By another worker: it needs something that this one does not have.
    Elsewhere,
}

impl<H: Handler> Job<'_, H> {
    /// Since when it has been ready, if a message waits for another program.
    pub(super) fn others_at(&self, now: Millis) -> Option<Millis> {
        let since = self.work.others_at.unwrap_or(self.ready_at).min(now);
        self.is_for_others.then_some(since)
    }

    pub(super) async fn park(
        &mut self,
        mut task: Option<Task>,
        again: Again,
    ) -> Result<Flow, Unavailable> {
        let store = &self.shared.store;
        if !self.lease.is_valid(store) {
            return Ok(Flow::End);
        }
        let now = store.now();
        let wait = match again {
            Again::After(time) => Some(Wake { at: later(now, time), set_at: Some(now) }),
            Again::OnNews | Again::Elsewhere => None,
        };
        let overdue = self.overdue_at.map(Wake::by_clock);
        // The time of a handler that was not called stays.
        let kept = self.timer.filter(|_| task.is_none());
        let mut timer = [wait, overdue, kept].into_iter().flatten().reduce(Wake::or);
        if self.behind > 0 {
            timer = Some(Wake::ready(now));
        }
        // Other workers see at once that it is ready, and since when. For a message alone they do
        // not call the handler.
        let others_at = self.others_at(now);
        let is_elsewhere = matches!(again, Again::Elsewhere);
        let elsewhere = is_elsewhere.then(|| Wake::ready(self.ready_at.min(now)));
        let wake = [timer, elsewhere].into_iter().flatten().reduce(Wake::or);
        // A handler that was called is not tried again by a timer, also if its transition waits for
        // a call.
        let is_handled = task.is_some() || self.waits_on(&Attempted::State);
        let on = if is_handled { Attempted::State } else { self.on.clone() };
        // A deadline that waits for a call is tried when the call has ended.
        let due_at = self.due_at.filter(|_| !self.waits_on(&Attempted::Deadline));
        let stuck = self.is_stuck(task.as_ref(), wake).await?;
        let refused = self.refused.clone();
        let event = Event::Wait(Wait {
            token: self.lease.token,
            revision: self.revision,
            now,
            on,
            sends_itself: task.as_ref().is_some_and(Task::sends_itself),
            stuck,
            wake,
            due_at,
            others_at,
            refused: std::mem::take(&mut self.refused),
            kept: std::mem::take(&mut self.kept),
        });
        self.released = true;
        let batch = store.batch().event(self.lease.id, event);
        let batch = match &mut task {
            Some(task) if !task.is_empty() => task.write(batch),
            _ => batch,
        };
        match batch.write_events().await {
            Ok(outcomes) => {
                self.refused_messages(&refused);
                if outcomes.first() == Some(&EventOutcome::SetAside) {
                    self.on = Attempted::State;
                    let (kind, id, state) = (kind::<H>(), display(self.id()), self.state);
                    let (step, attempt, error) = (self.on.name(), self.attempt, "self_sends");
                    self.failed = Some(error);
                    telemetry::SetAside { kind, id, state, step, attempt, error }.emit();
                    self.report(Cause::SelfSends, &Cause::SelfSends.to_string(), true);
                    return Ok(Flow::End);
                }
                if is_handled {
                    self.work.handler = protocol::Tries::default();
                }
                let timers = [timer, self.work.wakes_at(due_at, now)].into_iter().flatten();
                let delay = timers.map(|timer| millis_between(now, timer.at));
                let delay = delay.min();
                if is_elsewhere || others_at.is_some() {
                    // This worker knows that there is nothing for it until then.
                    let time = delay.map_or(SKIP_FOR, |ms| SKIP_FOR.min(Duration::from_millis(ms)));
                    self.shared.leave(self.id(), self.revision, time);
                }
                let (kind, id) = (kind::<H>(), display(self.id()));
                telemetry::Waits { kind, id, delay_ms: delay }.emit();
                Ok(Flow::End)
            }
            Err(EffectError::LeaseLost { .. }) => {
                self.emit_lost();
                Ok(Flow::End)
            }
            Err(EffectError::Commit(CommitError::NotFound { .. })) => Ok(Flow::End),
            // Another program has moved the machine, so the handler's result is for an earlier
            // state.
            Err(EffectError::Commit(CommitError::Conflict { id })) if id == self.id() => {
                self.released = false;
                self.reload().await
            }
            Err(EffectError::Unavailable(error)) => {
                self.released = false;
                Err(error)
            }
            Err(error) => {
                self.fail(Cause::NotWritten, error.class(), error.to_string(), false).await
            }
        }
    }
}
