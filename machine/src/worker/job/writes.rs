use tracing::field::display;

use super::{Flow, Handler, Job, attempts, kind};
use crate::{
    actor::{Actor, Call},
    effects::{error::EffectError, leave::Left, retry::Retry},
    journal::Due,
    store::{
        Cause, CommitError, Unavailable,
        inbox::protocol::{
            self, Attempted, Event, EventOutcome, Fail, Fault, Moved, MovedBy, Switch,
        },
    },
    stored::Durable,
    telemetry,
    typed::Erased,
    worker::Task,
};

/// Whether the reason of the error goes away: a machine has moved, or its inbox is full.
const fn passes(error: &EffectError) -> bool {
    use EffectError::{Commit, InboxFull};
    matches!(error, Commit(CommitError::Conflict { .. }) | InboxFull { .. })
}

impl<H: Handler> Job<'_, H> {
    /// Writes a transition, with everything that belongs to it. It takes these messages, of which
    /// the first one caused it.
    pub(super) async fn commit(
        &mut self,
        machine: H::Machine,
        taken: Vec<String>,
        mut task: Option<Task>,
    ) -> Result<Flow, Unavailable> {
        let store = &self.shared.store;
        if !self.lease.is_valid(store) {
            return Ok(Flow::End);
        }
        let ended = Durable::definition(&machine).states[Erased::state_index(&machine)].terminal;
        let failing = (self.on.clone(), self.attempt);
        self.messages.retain(|message| !taken.contains(&message.correlation));
        let mut taken = taken.into_iter();
        let (handled, also): (_, Vec<_>) = (taken.next(), taken.collect());
        let moved = usize::from(!also.is_empty());
        let mut waits = std::mem::take(&mut self.waits);
        self.passed.clear();
        let by = task.as_ref().map_or(MovedBy::Input, Task::moved_by);
        self.begin_anew(by);
        self.machine = Some(machine);
        let next = self.after_move(ended || task.as_ref().is_some_and(Task::is_handed_back));
        let Some(mut machine) = self.machine.take() else { return Ok(Flow::End) };
        let mut retry = Retry::default();
        let result = loop {
            let event = Event::Moved(Moved {
                token: self.lease.token,
                revision: self.revision,
                by,
                handled: handled.clone(),
                refused: self.refused.clone(),
                next: next.clone(),
                max_attempts: attempts::<H>(self.shared),
            });
            let mut batch = store.batch();
            if !also.is_empty() {
                let (token, messages) = (self.lease.token, also.clone());
                batch = batch.event(self.lease.id, Event::Acknowledge { token, messages });
            }
            let batch = batch.event(self.lease.id, event).commit(&mut machine);
            let batch = match &mut task {
                None => batch,
                Some(task) => task.write(batch),
            };
            match batch.write_events().await {
                Ok(outcomes) => break Ok(outcomes.get(moved).copied().unwrap_or_default()),
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        break Err(error);
                    }
                }
            }
        };
        if task.is_some() && matches!(result, Ok(_) | Err(EffectError::LeaseLost { .. })) {
            self.shared.kept(self.id(), None);
        }
        match result {
            Ok(EventOutcome::Goes) => {
                self.emit_written(handled.is_some());
                self.refused.clear();
                self.taken_over &= task.is_none();
                (self.machine, self.overdue_at) = (Some(machine), None);
                self.note_deadlines();
                self.learn_overdue().await?;
                Ok(Flow::Go)
            }
            // The answer to an earlier try was lost, and with it whether there is more to do.
            Ok(_) if matches!(next, protocol::AfterMove::Go(_)) => {
                self.emit_written(handled.is_some());
                self.on = Attempted::Recheck;
                self.reload().await
            }
            Ok(_) => {
                self.emit_written(handled.is_some());
                self.released = true;
                if !ended {
                    telemetry::HandedBack { kind: kind::<H>(), id: display(self.id()) }.emit();
                }
                Ok(Flow::End)
            }
            Err(EffectError::LeaseLost { .. }) => {
                self.released = true;
                self.emit_lost();
                self.lease.lose();
                Ok(Flow::End)
            }
            Err(EffectError::Unavailable(error)) => Err(error),
            Err(EffectError::Commit(CommitError::UnderWay { id, call })) if id == self.id() => {
                (self.on, self.attempt) = failing;
                // The other work that waits is not tried again either.
                waits.push((self.on.clone(), call));
                self.waits = waits;
                self.reload().await
            }
            Err(EffectError::Commit(CommitError::Conflict { id }))
                if id == self.id() || task.as_ref().is_some_and(|task| task.has_record(id)) =>
            {
                (self.on, self.attempt) = failing;
                self.reload().await
            }
            Err(error) => {
                let hopeless = matches!(failing.0, Attempted::Message(_)) && !passes(&error);
                (self.on, self.attempt) = failing;
                self.fail(Cause::NotWritten, error.class(), error.to_string(), hopeless).await
            }
        }
    }

    /// Forgets what was tried before the transition.
    fn begin_anew(&mut self, by: MovedBy) {
        // This program knows every field that it writes.
        (self.is_for_others, self.is_of_other) = (false, false);
        self.ready_at = self.shared.store.now();
        (self.work.handler, self.work.deadline, self.work.others_at) = Default::default();
        if by == MovedBy::Takeover {
            self.work.handler.attempts = self.attempt.saturating_sub(1);
        }
    }

    /// Chooses what comes after a transition that is about to be written.
    fn after_move(&mut self, is_over: bool) -> protocol::AfterMove {
        // Which outcomes are of the new entry is known when that is written.
        let has_outcomes = self.messages.iter().any(|message| message.actor == Call::KIND);
        let is_over = is_over || self.steps >= self.shared.settings.steps;
        if is_over || has_outcomes || self.shared.is_stopping() {
            return protocol::AfterMove::Yield { now: self.shared.store.now() };
        }
        let left = self.machine.as_ref().and_then(|machine| Left::of(machine, &[]));
        if left.is_some_and(|left| left.visit.is_some()) {
            // The handler of the next state does not wait for children that ended before.
            (self.work.unseen_end, self.work.seen_end) = (None, None);
        }
        // The deadlines of a group run on; the others begin with the commit. If that fails, those
        // of the old state count.
        let kept = self.machine.as_ref().and_then(|it| Due::first(it.journal().deadlines()));
        let due_at = std::mem::replace(&mut self.due_at, kept);
        self.choose();
        self.due_at = due_at;
        protocol::AfterMove::Go(self.on.clone())
    }

    /// A transition is on disk, with the outcome of its messages.
    fn emit_written(&self, handled: bool) {
        if handled {
            telemetry::MessageHandled { kind: kind::<H>(), id: display(self.id()) }.emit();
        }
        self.refused_messages(&self.refused);
    }

    pub(super) fn emit_lost(&self) {
        let (kind, id, token) = (kind::<H>(), display(self.id()), self.lease.token);
        telemetry::LeaseLost { kind, id, token }.emit();
    }

    /// These messages were set aside.
    pub(super) fn refused_messages(&self, refused: &[(String, String)]) {
        if !refused.is_empty() {
            let (kind, id, messages) = (kind::<H>(), display(self.id()), refused.len() as u64);
            telemetry::MessagesRefused { kind, id, messages }.emit();
        }
        for (_, error) in refused {
            self.report_of("message", 1, Cause::NotValid, error, true);
        }
    }

    /// Reads everything again, under the lease.
    pub(super) async fn reload(&mut self) -> Result<Flow, Unavailable> {
        let read = self.shared.store.read::<H::Machine>(self.id()).await?;
        let (Ok(machine), Some(work)) = (read.machine, read.work) else { return Ok(Flow::End) };
        if work.token != self.lease.token {
            return Ok(Flow::End);
        }
        self.machine = Some(machine);
        self.is_for_others = false;
        self.is_of_other = read.is_of_other;
        if work.revision != self.revision {
            // The calls that it waits for may have ended.
            self.waits.clear();
        }
        self.revision = work.revision;
        self.work = work;
        if self.on == Attempted::State {
            // The attempt under way is counted already.
            self.work.handler.attempts = self.work.handler.attempts.saturating_sub(1);
        }
        self.passed.clear();
        self.refused.clear();
        self.receive(read.messages);
        self.learn().await?;
        self.again().await
    }

    pub(super) async fn again(&mut self) -> Result<Flow, Unavailable> {
        let kept = std::mem::take(&mut self.kept);
        let was = self.on.clone();
        self.choose();
        self.kept.extend(kept);
        let refused = self.refused.clone();
        let event = Event::Switch(Switch {
            token: self.lease.token,
            revision: self.revision,
            was,
            on: self.on.clone(),
            refused: std::mem::take(&mut self.refused),
            kept: std::mem::take(&mut self.kept),
            max_attempts: attempts::<H>(self.shared),
        });
        let outcome = self.shared.store.under_lease(self.id(), event).await?;
        if outcome.is_some() {
            self.refused_messages(&refused);
        }
        match outcome {
            Some(EventOutcome::Goes) => Ok(Flow::Go),
            _ => Ok(Flow::End),
        }
    }

    /// Records a failure, of this cause and class, and with this text.
    pub(super) async fn fail(
        &mut self,
        cause: Cause,
        class: &'static str,
        error: String,
        hopeless: bool,
    ) -> Result<Flow, Unavailable> {
        let store = &self.shared.store;
        let now = store.now();
        let fault = Fault::new(cause, crate::contract::bounded(error));
        let delay = self.shared.settings.delay(self.id(), self.attempt);
        let event = Event::Fail(Fail {
            token: self.lease.token,
            on: self.on.clone(),
            fault: fault.clone(),
            revision: self.revision,
            now,
            retry_at: now.saturating_add(delay),
            due_at: self.due_at,
            others_at: self.others_at(now),
            max_attempts: attempts::<H>(self.shared),
            hopeless,
        });
        let written = store.under_lease(self.id(), event).await?;
        self.released = true;
        let (kind, id) = (kind::<H>(), display(self.id()));
        if written.is_none() {
            self.emit_lost();
            return Ok(Flow::End);
        }
        self.failed = Some(class);
        let (step, attempt, error, state) = (self.on.name(), self.attempt, class, self.state);
        let set_aside = hopeless || attempt >= attempts::<H>(self.shared);
        if set_aside {
            telemetry::SetAside { kind, id, state, step, attempt, error }.emit();
        } else {
            let delay_ms = delay.unsigned_abs();
            telemetry::Failed { kind, id, state, step, attempt, delay_ms, error }.emit();
        }
        self.report(cause, &fault.error, set_aside);
        Ok(Flow::End)
    }
}
