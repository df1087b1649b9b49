//! What a worker does with one machine while it has the lease.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use event_listener::Event as Signal;
use futures_util::{
    FutureExt,
    future::{Either, select},
};
use serde_json::Value;

use super::{
    Failure, Handler, Next, Task,
    handler::Elsewhere,
    lease::{Lease, Leases},
    settings::{Settings, sleep_until},
};
use crate::{
    actor::{Actors, Sender, Senders},
    clock::Millis,
    id::{Id, shortened},
    store::{
        CommitError, LoadError, Received, Store, Unavailable,
        backend::Agenda,
        message::Queued,
        retry::Retry,
        work::{self, Event, On, Outcome, Work},
    },
    stored::{Durable, Restore, VerifyError},
    typed::{Erased, Refused},
};

/// After this many steps a machine goes to the end of the queue.
const STEPS: u32 = 32;

/// The shortest time that a handler can ask for, so that it does not make a busy loop.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);

/// How long a machine that needs another program is left to others.
pub(super) const LEFT_TO_OTHERS: Duration = Duration::from_secs(30);

/// What the jobs of a worker share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) actors: Arc<Actors>,
    /// The holder of its leases.
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) senders: Senders,
    pub(super) leases: Leases,
    /// Jobs end after their current step.
    pub(super) stopping: AtomicBool,
    /// Handlers are stopped.
    pub(super) halted: AtomicBool,
    pub(super) halt: Signal,
    /// Machines that are left to others: until when, or until there are other news than these.
    pub(super) left: Mutex<BTreeMap<Id, (Duration, u64)>>,
}

impl Shared {
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    pub(super) fn halt(&self) {
        self.halted.store(true, Ordering::Release);
        self.halt.notify(usize::MAX);
    }

    async fn halted(&self) {
        loop {
            let halt = self.halt.listen();
            if self.halted.load(Ordering::Acquire) {
                return;
            }
            halt.await;
        }
    }

    pub(super) fn leave(&self, id: Id, news: u64, time: Duration) {
        let left = (self.store.uptime() + time, news);
        self.left.lock().unwrap_or_else(PoisonError::into_inner).insert(id, left);
    }

    pub(super) fn is_left(&self, id: Id, news: u64) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.store.uptime();
        left.retain(|_, (until, _)| *until > now);
        left.get(&id).is_some_and(|(_, seen)| *seen == news)
    }
}

/// A machine under a lease.
struct Job<'a, H: Handler> {
    handler: &'a H,
    shared: &'a Arc<Shared>,
    lease: Arc<Lease>,
    /// Not while user code has it.
    machine: Option<H::Machine>,
    /// When its next deadline is due.
    due_at: Option<Millis>,
    messages: Vec<Queued>,
    /// The messages that the current state refused.
    passed: HashSet<String>,
    refused: Vec<(String, String)>,
    kept: Vec<(String, String)>,
    /// The news that the job has seen.
    news: u64,
    on: On,
    /// How often that was tried, this time included.
    attempt: u32,
    work: Work,
    steps: u32,
    /// A message waits for a worker that knows its sender.
    is_for_others: bool,
    /// The triggers that only other versions of the machine have, as far as the file knows them.
    known_elsewhere: BTreeSet<String>,
    /// Another version of the program has written the machine, and may know more of it.
    is_of_other: bool,
    /// The lease was given back, or is lost.
    released: bool,
}

/// Whether a job goes on.
#[derive(PartialEq, Eq)]
enum Flow {
    Go,
    End,
}

/// Drives one machine until it waits, ends, or belongs to somebody else.
pub(super) async fn run<H: Handler>(
    handler: &H,
    shared: &Arc<Shared>,
    agenda: Agenda,
    holder_ended: bool,
) -> Result<(), Unavailable> {
    // Each round sets one thing aside that was tried too often.
    for _ in 0..STEPS {
        match claim(handler, shared, agenda.id, holder_ended).await? {
            Claim::Job(mut job) => {
                let ended = loop {
                    match job.turn().await {
                        Ok(Flow::Go) => {}
                        Ok(Flow::End) => break Ok(()),
                        Err(error) => break Err(error),
                    }
                };
                job.give_up().await;
                return ended;
            }
            Claim::Again => {}
            Claim::None => return Ok(()),
        }
    }
    Ok(())
}

#[allow(clippy::large_enum_variant, reason = "it lives shortly")]
enum Claim<'a, H: Handler> {
    Job(Job<'a, H>),
    Again,
    None,
}

async fn claim<'a, H: Handler>(
    handler: &'a H,
    shared: &'a Arc<Shared>,
    id: Id,
    holder_ended: bool,
) -> Result<Claim<'a, H>, Unavailable> {
    let store = &shared.store;
    let read = store.read::<H::Machine>(id).await?;
    let Some(work) = read.work else { return Ok(Claim::None) };
    let (machine, unreadable) = match read.machine {
        Ok(machine) => (Some(machine), None),
        // A newer program has written it, and drives it.
        Err(LoadError::Unreadable(
            error @ (VerifyError::UnknownDefinition { .. } | VerifyError::Incompatible { .. }),
        )) => {
            tracing::warn!(%id, %error, "the machine is left to other workers");
            shared.leave(id, work.news, LEFT_TO_OTHERS);
            return Ok(Claim::None);
        }
        Err(LoadError::NotFound { .. }) => return Ok(Claim::None),
        Err(error) => (None, Some(error)),
    };
    let token = work.token;
    let asked_at = store.uptime();
    let mut job = Job {
        handler,
        shared,
        lease: Lease::new(id, token + 1, asked_at, &shared.settings),
        due_at: None,
        machine,
        messages: Vec::new(),
        passed: HashSet::new(),
        refused: Vec::new(),
        kept: Vec::new(),
        news: work.news,
        on: On::Look,
        attempt: 1,
        work,
        steps: 0,
        is_for_others: false,
        known_elsewhere: BTreeSet::new(),
        is_of_other: read.is_of_other,
        released: false,
    };
    job.receive(read.messages);
    job.learn().await?;
    job.choose();
    let now = store.now();
    let event = Event::Claim {
        worker: shared.name.clone(),
        token,
        now,
        until: now.saturating_add(shared.settings.lease_ms()),
        holder_ended,
        on: job.on.clone(),
        most: shared.settings.attempts,
    };
    match store.under_lease(id, event).await? {
        Some(Outcome::Claimed { news, .. }) if news == job.news => {
            shared.leases.add(&job.lease);
        }
        // Something came between the read and the claim.
        Some(Outcome::Claimed { .. }) => {
            shared.leases.add(&job.lease);
            if job.reload().await? == Flow::End {
                job.give_up().await;
                return Ok(Claim::None);
            }
        }
        Some(Outcome::SetAside) => return Ok(Claim::Again),
        _ => return Ok(Claim::None),
    }
    if let Some(error) = unreadable {
        // Only a person can help: a backup, or an upgrade function.
        job.fail(error.to_string(), true).await?;
        return Ok(Claim::None);
    }
    Ok(Claim::Job(job))
}

/// What becomes of a message in the current state.
enum Verdict {
    Takes,
    Later(String),
    /// Another worker may take it.
    Elsewhere(String),
    Never(String),
}

impl<H: Handler> Job<'_, H> {
    fn id(&self) -> Id {
        self.lease.id
    }

    /// Does not keep a machine that it has no plan for.
    async fn give_up(&mut self) {
        if self.released {
            return;
        }
        let now = self.shared.store.now();
        let event = Event::HandBack { token: self.lease.token, on: On::Look, now };
        if let Err(error) = self.shared.store.under_lease(self.id(), event).await {
            tracing::debug!(%error, id = %self.id(), "the lease ends by itself");
        }
    }

    fn receive(&mut self, messages: Vec<Queued>) {
        self.messages = messages;
        self.note_deadlines();
    }

    /// Finds out which of the unknown triggers another version knows.
    async fn learn(&mut self) -> Result<(), Unavailable> {
        let own = <H::Machine as Restore>::DEFINITION;
        let is_unknown = |trigger: &str| own.edges.iter().all(|edge| edge.trigger != trigger);
        let mut triggers = self.messages.iter().filter_map(|message| message.trigger.as_deref());
        if triggers.any(is_unknown) {
            self.known_elsewhere = self.shared.store.triggers_of_others(own).await?;
        }
        Ok(())
    }

    fn note_deadlines(&mut self) {
        let machine = self.machine.as_ref();
        self.due_at = machine.and_then(|it| it.journal().stored().summary.due_at());
    }

    /// Decides what to do next, and sorts out the messages that cannot be taken now, or never.
    fn choose(&mut self) {
        let now = self.shared.store.now();
        self.kept.clear();
        let mut on = None;
        if self.work.deadline.may(now) && self.due_at.is_some_and(|at| at <= now) {
            on = Some(On::Deadline);
        }
        // One that failed before lets the others pass.
        self.messages.sort_by_key(|message| message.attempts);
        for message in std::mem::take(&mut self.messages) {
            let correlation = &message.correlation;
            if on.is_none() && !self.passed.contains(correlation) {
                let verdict = match self.judge(&message) {
                    Verdict::Never(why) if self.is_of_other && message.intact => {
                        Verdict::Elsewhere(why)
                    }
                    verdict => verdict,
                };
                self.is_for_others |= matches!(verdict, Verdict::Elsewhere(_));
                match verdict {
                    Verdict::Takes => on = Some(On::Message(correlation.clone())),
                    Verdict::Later(why) | Verdict::Elsewhere(why)
                        if message.error.as_ref() != Some(&why) =>
                    {
                        self.kept.push((correlation.clone(), why));
                    }
                    Verdict::Later(_) | Verdict::Elsewhere(_) => {}
                    Verdict::Never(why) => {
                        self.refused.push((correlation.clone(), why));
                        continue;
                    }
                }
            }
            self.messages.push(message);
        }
        let handler = if self.work.handler.may(now) { On::State } else { On::Look };
        self.on = on.unwrap_or(handler);
        self.attempt = match &self.on {
            On::Message(correlation) => {
                let mut all = self.messages.iter();
                let message = all.find(|message| message.correlation == *correlation);
                message.map_or(0, |message| message.attempts).saturating_add(1)
            }
            On::Deadline => self.work.deadline.attempts.saturating_add(1),
            On::State | On::Look => self.work.handler.attempts.saturating_add(1),
        };
    }

    fn judge(&self, message: &Queued) -> Verdict {
        if !message.intact {
            return Verdict::Never("its status was changed: the seal does not match".to_owned());
        }
        let Some(machine) = &self.machine else {
            return Verdict::Later("the machine cannot be read".to_owned());
        };
        let definition = <H::Machine as Restore>::DEFINITION;
        // The body says what is wrong with it.
        let Some(trigger) = message.trigger.as_deref() else { return Verdict::Takes };
        let mut edges = definition.edges.iter().filter(|edge| edge.trigger == trigger).peekable();
        let cancels = trigger == "cancel" && self.handler.__can_cancel(machine);
        if edges.peek().is_none() {
            let all: Vec<&str> = definition.edges.iter().map(|edge| &*edge.trigger).collect();
            let known: BTreeSet<_> = all.into_iter().collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            let why = format!(
                "`{}` is not a trigger of {}; its triggers: {known}",
                shortened(trigger),
                definition.name
            );
            return if self.known_elsewhere.contains(trigger) {
                Verdict::Elsewhere(why)
            } else {
                Verdict::Never(why)
            };
        }
        let kind = message.actor.as_str();
        if !edges.any(|edge| edge.is_for_kind(kind)) {
            return Verdict::Never(format!("an actor of kind `{kind}` may never `{trigger}`"));
        }
        if self.shared.senders.get(kind, None).is_none() {
            return Verdict::Elsewhere(format!(
                "this worker does not know actors of kind `{kind}`; add them with `Worker::sender`"
            ));
        }
        let state = Erased::state_index(machine);
        let mut legal = definition.moves(state).filter(|legal| legal.trigger() == trigger);
        if cancels || legal.any(|legal| legal.edges()[0].is_for_kind(kind)) {
            return Verdict::Takes;
        }
        let legal = definition.legal_moves(state);
        Verdict::Later(format!(
            "`{trigger}` by `{kind}` is not legal in {}; {legal}",
            definition.states[state].label
        ))
    }

    /// Does one thing.
    async fn turn(&mut self) -> Result<Flow, Unavailable> {
        self.steps += 1;
        if !self.lease.is_valid(&self.shared.store) {
            return Ok(Flow::End);
        }
        match self.on.clone() {
            On::Look => self.park(None, None).await,
            On::Deadline => self.fire().await,
            On::Message(correlation) => self.take(&correlation).await,
            On::State => self.handle().await,
        }
    }

    async fn fire(&mut self) -> Result<Flow, Unavailable> {
        let now = self.shared.store.now();
        let Some(machine) = self.machine.take() else { return Ok(Flow::End) };
        let deadlines = &machine.journal().stored().summary.deadlines;
        let due =
            |due: &&crate::journal::Due| !due.paused && due.due_at.is_some_and(|at| at <= now);
        let first = deadlines.iter().filter(due).min_by_key(|due| due.due_at);
        let Some(trigger) = first.map(|due| due.trigger.clone()) else {
            self.machine = Some(machine);
            return self.again().await;
        };
        match catch_unwind(AssertUnwindSafe(|| machine.__fire_deadline(&trigger, now))) {
            Ok(Ok(machine)) => self.commit(machine, None, None).await,
            Ok(Err(refused)) => self.fail(refused.reason.to_string(), false).await,
            Err(panic) => self.fail(panicked("the move of a deadline", &*panic), false).await,
        }
    }

    async fn take(&mut self, correlation: &str) -> Result<Flow, Unavailable> {
        let message = self.shared.store.message(self.id(), correlation).await?;
        let Some(machine) = self.machine.take() else { return Ok(Flow::End) };
        let message = match message {
            Ok(message) => message,
            // It is on record, and never applied.
            Err(error) => {
                self.machine = Some(machine);
                self.messages.retain(|message| message.correlation != correlation);
                self.refused.push((correlation.to_owned(), brief(error.to_string())));
                return self.again().await;
            }
        };
        let taken = catch_unwind(AssertUnwindSafe(|| self.apply(machine, &message)));
        match taken {
            Ok(Taken::Moved(machine)) => {
                self.commit(machine, Some(correlation.to_owned()), None).await
            }
            Ok(Taken::Later(machine, why)) => {
                self.machine = Some(machine);
                self.passed.insert(correlation.to_owned());
                self.kept.push((correlation.to_owned(), brief(why)));
                self.again().await
            }
            Ok(Taken::Never(machine, why)) if self.is_of_other => {
                self.machine = Some(machine);
                self.is_for_others = true;
                self.passed.insert(correlation.to_owned());
                self.kept.push((correlation.to_owned(), brief(why)));
                self.again().await
            }
            Ok(Taken::Never(machine, why)) => {
                self.machine = Some(machine);
                self.messages.retain(|message| message.correlation != correlation);
                self.refused.push((correlation.to_owned(), brief(why)));
                self.again().await
            }
            Err(panic) => self.fail(panicked("the move of this message", &*panic), false).await,
        }
    }

    fn apply(&self, machine: H::Machine, message: &Received) -> Taken<H::Machine> {
        let value: Value = match serde_json::from_str(&message.body) {
            Ok(value) => value,
            Err(error) => {
                return Taken::Never(machine, format!("the body is not valid JSON: {error}"));
            }
        };
        if value.get("trigger").and_then(Value::as_str).is_none() {
            return Taken::Never(machine, "the body has no text `trigger`".to_owned());
        }
        // From the text, so that numbers are those that were sent.
        let event = serde_json::from_str::<<H::Machine as Erased>::Event>(&message.body);
        let Some(by) = self.shared.senders.get(&message.actor, message.name.as_deref()) else {
            return Taken::Later(machine, "its sender is of an unknown kind".to_owned());
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
            Err(Refused { machine, reason }) => match self.cancel(machine, &value, &by) {
                Ok(taken) => taken,
                Err(machine) => Taken::Later(machine, reason.to_string()),
            },
        }
    }

    /// Cancels a machine in a way of its own.
    fn cancel(
        &self,
        machine: H::Machine,
        value: &Value,
        by: &Sender,
    ) -> Result<Taken<H::Machine>, H::Machine> {
        if value.get("trigger").and_then(Value::as_str) != Some("cancel") {
            return Err(machine);
        }
        let reason = value.get("reason").and_then(Value::as_str).unwrap_or("cancelled");
        self.handler.__cancel(machine, reason, by).map(Taken::Moved)
    }

    async fn handle(&mut self) -> Result<Flow, Unavailable> {
        let Some(machine) = self.machine.take() else { return Ok(Flow::End) };
        let (shared, lease, handler) = (self.shared, Arc::clone(&self.lease), self.handler);
        let id = lease.id;
        let mut task = Task::new(shared, &lease);
        let handled = {
            let handled = async { handler.handle(machine, &mut task).await };
            let handled = Box::pin(AssertUnwindSafe(handled).catch_unwind());
            let ends = async {
                if H::__HAS_PERMITS {
                    shared.halted().await;
                    return Stop::Halted;
                }
                let late = async {
                    match shared.settings.handler_limit {
                        Some(limit) => {
                            sleep_until(&shared.store, shared.store.uptime() + limit).await;
                        }
                        None => std::future::pending().await,
                    }
                };
                let stopped = select(Box::pin(shared.halted()), Box::pin(late));
                match select(Box::pin(lease.lost(&shared.store)), stopped).await {
                    Either::Left(_) => Stop::Lost,
                    Either::Right((Either::Left(_), _)) => Stop::Halted,
                    Either::Right((Either::Right(_), _)) => Stop::Late,
                }
            };
            match select(handled, Box::pin(ends)).await {
                Either::Left((handled, _)) => Ok(handled),
                Either::Right((stop, _)) => Err(stop),
            }
        };
        match handled {
            Err(Stop::Lost) => {
                self.released = true;
                tracing::warn!(%id, "a handler was stopped because its lease has ended");
                Ok(Flow::End)
            }
            Err(Stop::Late) => {
                let limit = shared.settings.handler_limit.unwrap_or_default();
                self.fail(format!("the handler took longer than {limit:?} and was stopped"), false)
                    .await
            }
            Err(Stop::Halted) => {
                let (token, on) = (lease.token, self.on.clone());
                let event = Event::HandBack { token, on, now: shared.store.now() };
                shared.store.under_lease(id, event).await?;
                self.released = true;
                Ok(Flow::End)
            }
            Ok(Err(panic)) => self.fail(panicked("the handler", &*panic), false).await,
            Ok(Ok(Err(failure))) if failure.is::<Elsewhere>() => {
                tracing::warn!(%id, %failure, "the machine is left to other workers");
                self.is_for_others = true;
                self.park(Some(task), None).await
            }
            Ok(Ok(Err(failure))) => self.fail(chain(&failure), false).await,
            Ok(Ok(Ok(Next::Commit(machine)))) if machine.journal().id() != id => {
                let other = machine.journal().id();
                self.fail(format!("the handler returned another machine, {other}"), false).await
            }
            Ok(Ok(Ok(Next::Commit(machine)))) if machine.journal().uncommitted().is_empty() => {
                self.park(Some(task), None).await
            }
            Ok(Ok(Ok(Next::Commit(machine)))) => self.commit(machine, None, Some(task)).await,
            Ok(Ok(Ok(Next::Wait))) => self.park(Some(task), None).await,
            Ok(Ok(Ok(Next::WaitFor(time)))) => {
                let least = if H::__HAS_PERMITS { Duration::ZERO } else { SHORTEST_WAIT };
                self.park(Some(task), Some(time.max(least))).await
            }
        }
    }

    /// Writes a transition, with everything that belongs to it.
    async fn commit(
        &mut self,
        machine: H::Machine,
        handled: Option<String>,
        mut task: Option<Task>,
    ) -> Result<Flow, Unavailable> {
        let store = &self.shared.store;
        if !self.lease.is_valid(store) {
            return Ok(Flow::End);
        }
        let definition = <H::Machine as Restore>::DEFINITION;
        let ended = definition.states[Erased::state_index(&machine)].terminal;
        let failing = (self.on.clone(), self.attempt);
        self.messages.retain(|message| Some(&message.correlation) != handled.as_ref());
        self.passed.clear();
        // This program knows all of what it writes.
        (self.is_for_others, self.is_of_other) = (false, false);
        (self.work.handler, self.work.deadline) = Default::default();
        self.machine = Some(machine);
        self.due_at = None;
        let next = if ended || self.steps >= STEPS || self.shared.is_stopping() {
            work::Next::Yield { now: store.now() }
        } else {
            self.choose();
            work::Next::Go(self.on.clone())
        };
        let Some(mut machine) = self.machine.take() else { return Ok(Flow::End) };
        let mut retry = Retry::default();
        let result = loop {
            let event = Event::Moved {
                token: self.lease.token,
                handled: handled.clone(),
                refused: self.refused.clone(),
                next: next.clone(),
                most: self.shared.settings.attempts,
            };
            let batch = store.batch().event(self.lease.id, event).commit(&mut machine);
            let batch = match &mut task {
                Some(task) => task.write(batch),
                None => batch,
            };
            match batch.write_events().await {
                Ok(outcomes) => break Ok(outcomes.first().copied().unwrap_or_default()),
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        break Err(error);
                    }
                }
            }
        };
        match result {
            Ok(Outcome::Goes) => {
                self.refused.clear();
                self.machine = Some(machine);
                self.note_deadlines();
                Ok(Flow::Go)
            }
            // The answer to an earlier try was lost, and with it whether there is more to do.
            Ok(_) if matches!(next, work::Next::Go(_)) => {
                self.on = On::Look;
                self.reload().await
            }
            Ok(_) => {
                self.released = true;
                Ok(Flow::End)
            }
            Err(CommitError::LeaseLost { .. }) => {
                self.released = true;
                tracing::warn!(id = %self.id(), "a transition was refused: the lease is lost");
                self.lease.lose();
                Ok(Flow::End)
            }
            Err(CommitError::Unavailable(error)) => Err(error),
            Err(CommitError::Conflict { id }) if id == self.id() => {
                (self.on, self.attempt) = failing;
                self.reload().await
            }
            Err(error) => {
                let hopeless = matches!(failing.0, On::Message(_));
                (self.on, self.attempt) = failing;
                self.fail(error.to_string(), hopeless).await
            }
        }
    }

    /// Reads everything again, under the lease.
    async fn reload(&mut self) -> Result<Flow, Unavailable> {
        let read = self.shared.store.read::<H::Machine>(self.id()).await?;
        let (Ok(machine), Some(work)) = (read.machine, read.work) else { return Ok(Flow::End) };
        if work.token != self.lease.token {
            return Ok(Flow::End);
        }
        self.machine = Some(machine);
        self.is_for_others = false;
        self.is_of_other = read.is_of_other;
        self.news = work.news;
        self.work = work;
        self.passed.clear();
        self.refused.clear();
        self.receive(read.messages);
        self.learn().await?;
        self.again().await
    }

    /// Goes on with something else.
    async fn again(&mut self) -> Result<Flow, Unavailable> {
        let kept = std::mem::take(&mut self.kept);
        let was = self.on.clone();
        self.choose();
        self.kept.extend(kept);
        let event = Event::Turn {
            token: self.lease.token,
            was,
            on: self.on.clone(),
            refused: std::mem::take(&mut self.refused),
            kept: std::mem::take(&mut self.kept),
            most: self.shared.settings.attempts,
        };
        match self.shared.store.under_lease(self.id(), event).await? {
            Some(Outcome::Goes) => Ok(Flow::Go),
            _ => Ok(Flow::End),
        }
    }

    /// Lets the machine wait.
    async fn park(
        &mut self,
        mut task: Option<Task>,
        time: Option<Duration>,
    ) -> Result<Flow, Unavailable> {
        let store = &self.shared.store;
        let now = store.now();
        let mut wake_at = time.map(|time| {
            now.saturating_add(Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX))
        });
        if self.is_for_others {
            // They see it at once; this worker knows that there is nothing for it.
            wake_at = Some(now);
            let time = time.unwrap_or(LEFT_TO_OTHERS).min(LEFT_TO_OTHERS);
            self.shared.leave(self.id(), self.news, time);
        }
        let event = Event::Park {
            token: self.lease.token,
            news: self.news,
            now,
            on: self.on.clone(),
            wake_at,
            due_at: self.due_at,
            refused: std::mem::take(&mut self.refused),
            kept: std::mem::take(&mut self.kept),
        };
        self.released = true;
        let batch = store.batch().event(self.lease.id, event);
        let batch = match &mut task {
            Some(task) if !task.is_empty() => task.write(batch),
            _ => batch,
        };
        match batch.write().await {
            Ok(()) | Err(CommitError::LeaseLost { .. } | CommitError::NotFound { .. }) => {
                Ok(Flow::End)
            }
            Err(CommitError::Unavailable(error)) => {
                self.released = false;
                Err(error)
            }
            Err(error) => self.fail(error.to_string(), false).await,
        }
    }

    /// Records a failure.
    async fn fail(&mut self, error: String, hopeless: bool) -> Result<Flow, Unavailable> {
        let store = &self.shared.store;
        let now = store.now();
        let error = crate::contract::bounded(error);
        tracing::warn!(id = %self.id(), on = ?self.on, attempt = self.attempt, %error, "a machine failed");
        let event = Event::Fail {
            token: self.lease.token,
            on: self.on.clone(),
            error,
            news: self.news,
            now,
            retry_at: now.saturating_add(self.shared.settings.delay(self.attempt)),
            due_at: self.due_at,
            most: self.shared.settings.attempts,
            hopeless,
        };
        store.under_lease(self.id(), event).await?;
        self.released = true;
        Ok(Flow::End)
    }
}

/// What a message did.
enum Taken<M> {
    Moved(M),
    Later(M, String),
    Never(M, String),
}

enum Stop {
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
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("{what} panicked: {}", text.unwrap_or("without a message"))
}

/// An error with its causes.
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
