use std::{
    any::Any,
    future::pending,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{Either, select},
};
use serde_json::Value;
use tracing::field::display;

use super::{Flow, Handler, Job, attempts, kind, park::Again};
use crate::{
    actor::{Actor, Call},
    clock::Millis,
    future::panic_text,
    journal::Fact,
    store::{Cause, LoadError, Received, Unavailable, inbox::protocol::Event},
    stored::{Durable, Restore},
    telemetry,
    typed::{Erased, Refused},
    worker::{Failure, Next, Task, handler::UnsupportedHere, lease::Limited, task::TaskOutcome},
};

/// The shortest time that a handler can ask for, so that it does not make a busy loop.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);

impl<H: Handler> Job<'_, H> {
    pub(super) async fn fire(&mut self) -> Result<Flow, Unavailable> {
        let now = self.shared.store.now();
        let Some(machine) = self.machine.take() else { return Ok(Flow::End) };
        let deadlines = &machine.journal().stored().summary.deadlines;
        let due =
            |due: &&crate::journal::Due| !due.paused && due.due_at.is_some_and(|at| at <= now);
        let first = deadlines.iter().filter(due).min_by_key(|due| due.due_at);
        let Some((trigger, due_at)) = first.map(|due| (due.trigger.clone(), due.due_at)) else {
            self.machine = Some(machine);
            return self.again().await;
        };
        let past = &machine.journal().stored().summary;
        let (entered, entered_at) = (past.entered, Some(past.entered_at));
        let is_again = past.last_trigger.as_ref() == Some(&trigger) && due_at <= entered_at;
        // It may fire without an end, and fill the file. One whose time advances catches up; an
        // `after` of no time is always due at the entry.
        if is_again
            && self.attempt == 1
            && (due_at == entered_at || due_at <= self.was_due_at(&trigger, entered).await?)
        {
            let why = format!(
                "the deadline of `{trigger}` was due already when it entered its state again, and its time has \
                 not advanced; it fires after a delay, so that it does not fire without an end"
            );
            return self.fail(Cause::Failed, "due_again", why, false).await;
        }
        let limited = self.limited();
        let fired = catch_unwind(AssertUnwindSafe(|| machine.__fire_deadline(&trigger, now)));
        drop(limited);
        match fired {
            Ok(Ok(machine)) => self.commit(machine, Vec::new(), None).await,
            Ok(Err(refused)) => {
                self.fail(Cause::Failed, "refused", refused.reason.to_string(), false).await
            }
            Err(panic) => {
                let why = panicked("the move of a deadline", &*panic);
                self.fail(Cause::Panicked, "panic", why, false).await
            }
        }
    }

    /// When this deadline was due before the entry with this number; if that cannot be read, later
    /// than ever.
    async fn was_due_at(
        &mut self,
        trigger: &str,
        entered: u64,
    ) -> Result<Option<Millis>, Unavailable> {
        let before = entered.saturating_sub(1);
        let part = match self.shared.store.history_part(self.id(), before, 1).await {
            Ok(part) => part,
            Err(LoadError::Unavailable(error)) => return Err(error),
            Err(_) => return Ok(Some(Millis::MAX)),
        };
        let known = part.history.entries.iter().rev().find_map(|entry| match &entry.fact {
            Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. } => Some(deadlines),
            Fact::Fenced { .. } | Fact::Recorded { .. } => None,
        });
        let before = known.and_then(|all| all.iter().find(|due| due.trigger == trigger)?.due_at);
        Ok(before.or(Some(Millis::MAX)))
    }

    /// Code of the program runs.
    fn limited(&self) -> Limited {
        self.lease.limit(&self.shared.store, &self.shared.settings)
    }

    pub(super) async fn take(&mut self, correlation: &str) -> Result<Flow, Unavailable> {
        match self.shared.store.message(self.id(), correlation).await? {
            Ok(message) if message.actor == Call::KIND => self.take_outcome(message).await,
            Ok(message) => self.take_all(vec![message], Vec::new()).await,
            // The refusal is recorded, and the message is never applied.
            Err(error) => self.refuse(correlation, error.to_string()).await,
        }
    }

    /// Applies the events of one message, in one commit, which also takes other messages.
    async fn take_all(
        &mut self,
        events: Vec<Received>,
        also: Vec<String>,
    ) -> Result<Flow, Unavailable> {
        let Some(machine) = self.machine.take() else { return Ok(Flow::End) };
        let Some(correlation) = events.first().map(|event| event.correlation.clone()) else {
            self.machine = Some(machine);
            return self.again().await;
        };
        let limited = self.limited();
        let taken = catch_unwind(AssertUnwindSafe(|| {
            let mut taken = Taken::Moved(machine);
            for event in &events {
                taken = match taken {
                    Taken::Moved(machine) => self.apply(machine, event),
                    other => other,
                };
            }
            taken
        }));
        drop(limited);
        // Another version of the program may take it.
        self.is_for_others |= self.is_of_other && matches!(taken, Ok(Taken::Never(..)));
        match taken {
            Ok(Taken::Moved(machine)) => {
                let taken = std::iter::once(correlation).chain(also).collect();
                self.commit(machine, taken, None).await
            }
            Ok(Taken::Never(machine, why)) if !self.is_of_other => {
                self.machine = Some(machine);
                self.refuse(&correlation, why).await
            }
            Ok(Taken::Later(machine, why) | Taken::Never(machine, why)) => {
                self.machine = Some(machine);
                self.keep(&correlation, why).await
            }
            Err(panic) => {
                let why = panicked("the move of this message", &*panic);
                self.fail(Cause::Panicked, "panic", why, false).await
            }
        }
    }

    /// Applies these events of an outcome, with other outcomes that they take.
    pub(super) async fn take_events(
        &mut self,
        message: Received,
        events: Vec<Value>,
        also: Vec<String>,
    ) -> Result<Flow, Unavailable> {
        let events =
            events.into_iter().map(|event| Received { body: event.to_string(), ..message.clone() });
        self.take_all(events.collect(), also).await
    }

    /// The handler made no transition, so the outcomes wait, however often it looks at them.
    fn leave_queued(&mut self, messages: Vec<String>) {
        let why = "the handler of the state waits";
        self.kept.extend(messages.into_iter().map(|message| (message, why.to_owned())));
    }

    /// The message waits for another state.
    pub(super) async fn keep(
        &mut self,
        correlation: &str,
        why: String,
    ) -> Result<Flow, Unavailable> {
        self.passed.insert(correlation.to_owned());
        self.kept.push((correlation.to_owned(), brief(why)));
        self.again().await
    }

    /// The message is never applied.
    pub(super) async fn refuse(
        &mut self,
        correlation: &str,
        why: String,
    ) -> Result<Flow, Unavailable> {
        self.messages.retain(|message| message.correlation != correlation);
        self.refused.push((correlation.to_owned(), brief(why)));
        self.again().await
    }

    fn apply(&self, machine: H::Machine, message: &Received) -> Taken<H::Machine> {
        let value: Value = match serde_json::from_str(&message.body) {
            Ok(value) => value,
            Err(error) => {
                return Taken::Never(machine, format!("the body is not valid JSON: {error}"));
            }
        };
        if value.get("trigger").and_then(Value::as_str).is_none() {
            return Taken::Never(machine, "the body has no string `trigger`".to_owned());
        }
        let transitions = machine.journal().summary().transitions;
        if message.seen.is_some_and(|seen| seen != transitions) {
            let why = "the machine has moved on since the sender looked".to_owned();
            return Taken::Never(machine, why);
        }
        // Parsed from the text, so that numbers are exactly as sent.
        let event = serde_json::from_str::<<H::Machine as Erased>::Event>(&message.body);
        let Some(by) = self.shared.senders.get(&message.actor, message.name.as_deref()) else {
            return Taken::Later(machine, "its sender has an unknown kind".to_owned());
        };
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                let name = &<H::Machine as Restore>::DEFINITION.name;
                let why = format!("the body is not an event of `{name}`: {error}");
                return Taken::Never(machine, why);
            }
        };
        match machine.apply(event, &by) {
            Ok(machine) => Taken::Moved(machine),
            Err(Refused { machine, reason }) => Taken::Later(machine, reason.to_string()),
        }
    }

    /// The messages that a handler has dealt with, beside these, and that are queued.
    async fn taken(
        &mut self,
        mut taken: Vec<String>,
        beside: &[String],
    ) -> Result<Vec<String>, Unavailable> {
        taken.retain(|it| !beside.contains(it));
        // A call can end after the job has read its inbox.
        if !taken.iter().all(|it| self.is_queued(it)) {
            let inbox = self.shared.store.read::<H::Machine>(self.lease.id).await?.messages;
            taken.retain(|it| inbox.iter().any(|message| message.correlation == *it));
        }
        Ok(taken)
    }

    fn is_queued(&self, correlation: &str) -> bool {
        self.messages.iter().any(|message| message.correlation == correlation)
    }

    /// Calls the handler, with the outcomes of the calls of its state, and the messages that bring
    /// them.
    pub(super) async fn handle(
        &mut self,
        outcomes: Option<Vec<TaskOutcome>>,
        mut messages: Vec<String>,
    ) -> Result<Flow, Unavailable> {
        let Some(machine) = self.machine.take() else { return Ok(Flow::End) };
        let (shared, lease, handler) = (self.shared, Arc::clone(&self.lease), self.handler);
        let id = lease.id;
        // It sees the ends of all children until now.
        (self.work.unseen_end, self.work.seen_end) = (None, None);
        let mut task = Task::new(shared, &lease, machine.journal(), self.taken_over);
        (task.outcomes, task.kept) = (outcomes, shared.kept(id, None));
        task.attempt = (self.attempt, attempts::<H>(shared));
        // Calls of tools have separate timeouts.
        let limited = (!H::__HAS_PERMITS).then(|| self.limited());
        let ends_at = shared.settings.handler_limit.filter(|_| !H::__HAS_PERMITS);
        let ends_at = ends_at.map(|limit| shared.store.inner.clock.uptime() + limit);
        let handled = {
            let handled = async { handler.handle(machine, &mut task).await };
            let handled = Box::pin(AssertUnwindSafe(handled).catch_unwind());
            let ends = async {
                if H::__HAS_PERMITS {
                    shared.halt.wait().await;
                    return Interruption::Halted;
                }
                let late = async {
                    let Some(limit) = shared.settings.handler_limit else { return pending().await };
                    shared.store.inner.clock.sleep(limit).await;
                };
                let stopped = select(Box::pin(shared.halt.wait()), Box::pin(late));
                match select(Box::pin(lease.wait_for_loss(&shared.store)), stopped).await {
                    Either::Left(_) => Interruption::Lost,
                    Either::Right((Either::Left(_), _)) => Interruption::Halted,
                    Either::Right((Either::Right(_), _)) => Interruption::Late,
                }
            };
            match select(handled, Box::pin(ends)).await {
                // One that blocked its thread may have an answer, but no time for it.
                Either::Left(_)
                    if ends_at.is_some_and(|at| shared.store.inner.clock.uptime() > at) =>
                {
                    Err(Interruption::Late)
                }
                Either::Left((handled, _)) => Ok(handled),
                Either::Right((stop, _)) => Err(stop),
            }
        };
        drop(limited);
        shared.kept(id, task.kept.take());
        match handled {
            Err(Interruption::Lost) => {
                (self.released, self.keeps_lease) = (true, true);
                self.emit_lost();
                Ok(Flow::End)
            }
            Err(Interruption::Late) => {
                let limit = shared.settings.handler_limit.unwrap_or_default();
                let why = format!("the handler took longer than {limit:?} and was stopped");
                self.fail(Cause::TimedOut, "timeout", why, false).await
            }
            Err(Interruption::Halted) => {
                let (token, on) = (lease.token, self.on.clone());
                let event = Event::HandBack { token, on, now: shared.store.now() };
                shared.store.under_lease(id, event).await?;
                self.released = true;
                telemetry::HandedBack { kind: kind::<H>(), id: display(id) }.emit();
                Ok(Flow::End)
            }
            Ok(Err(panic)) => {
                self.fail(Cause::Panicked, "panic", panicked("the handler", &*panic), false).await
            }
            Ok(Ok(Err(failure))) if failure.is::<UnsupportedHere>() => {
                let (kind, error) = (kind::<H>(), "other_worker");
                telemetry::LeftToOthers { kind, id: display(id), error }.emit();
                self.park(Some(task), Again::Elsewhere).await
            }
            Ok(Ok(Err(failure))) => {
                let class = crate::effects::error::class_of(&*failure).unwrap_or("_OTHER");
                self.fail(Cause::Failed, class, chain(&failure), false).await
            }
            Ok(Ok(Ok(Next::Commit(machine)))) if machine.journal().id() != id => {
                let other = machine.journal().id();
                let why = format!("the handler returned a different machine: {other}");
                self.fail(Cause::NotWritten, "other_machine", why, false).await
            }
            Ok(Ok(Ok(Next::Commit(machine)))) if machine.journal().uncommitted().is_empty() => {
                let why = "the handler returned the machine without a transition; if there is nothing \
                           to do, return `Next::Wait`";
                self.fail(Cause::NotWritten, "no_transition", why.to_owned(), false).await
            }
            Ok(Ok(Ok(Next::Commit(machine)))) => {
                let taken = self.taken(task.taken(), &messages).await?;
                messages.extend(taken);
                self.commit(machine, messages, Some(task)).await
            }
            Ok(Ok(Ok(Next::Wait))) => {
                self.leave_queued(messages);
                self.park(Some(task), Again::OnNews).await
            }
            Ok(Ok(Ok(Next::WaitFor(time)))) => {
                self.leave_queued(messages);
                let least = if H::__HAS_PERMITS { Duration::ZERO } else { SHORTEST_WAIT };
                self.park(Some(task), Again::After(time.max(least))).await
            }
        }
    }
}

enum Taken<M> {
    Moved(M),
    Later(M, String),
    Never(M, String),
}

enum Interruption {
    Lost,
    Halted,
    Late,
}

/// The text of an error may quote the message, and that may be large.
fn brief(text: String) -> String {
    match text.char_indices().nth(1000) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn panicked(what: &str, panic: &(dyn Any + Send)) -> String {
    format!("{what} panicked: {}", panic_text(panic))
}

fn chain(failure: &Failure) -> String {
    let mut text = failure.to_string();
    let mut source = failure.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
