//! The outcomes of the calls of a state.

use std::{any::Any, sync::Arc};

use serde_json::{Value, json};

use super::{Flow, Handler, Job};
use crate::{
    actor::{Actor, Call},
    clock::Millis,
    contract::{AnyExecution, CallError},
    definition::{Definition, Invocation},
    id::Id,
    store::{
        Delivery, LoadError, Received, Store, Unavailable,
        backend::{Attempts, Messages},
        inbox::{
            message::{Message, Queued},
            outcome::OutcomePlace,
            protocol::Event,
        },
        write::attempt::KeyAttempt,
    },
    stored::{Durable, Hold, OutcomeReader, Restore},
    typed::Erased,
    worker::task::TaskOutcome,
};

/// What to do with an outcome in the current state.
pub(super) enum OutcomeFit {
    Takes,
    Later(String),
    /// It is for an entry that is over, and nothing depends on it.
    Stale,
}

/// A call of the current entry that has an outcome.
struct Answer {
    position: u32,
    /// The correlation id of its message.
    correlation: String,
    of: Of,
    is_taken: bool,
}

/// Where an outcome is. A set has many, and they come one by one, so an execution is read when its
/// outcome is taken.
enum Of {
    Execution(Id),
    Error(Value),
}

impl Answer {
    /// The one that a message brings.
    fn of(position: u32, message: &Received) -> Self {
        let body: Value = serde_json::from_str(&message.body).unwrap_or_default();
        let of = Of::Error(body["error"].clone());
        let is_taken = message.status == Delivery::Handled;
        Self { position, correlation: message.correlation.clone(), of, is_taken }
    }

    async fn read(&self, store: &Store) -> Result<TaskOutcome, LoadError> {
        Ok(match &self.of {
            Of::Execution(id) => TaskOutcome::Execution(Box::new(store.load(*id).await?)),
            Of::Error(error) => TaskOutcome::Error(error.clone()),
        })
    }

    /// The receipt, or the error.
    async fn outcome(
        &self,
        store: &Store,
        reader: Option<OutcomeReader>,
    ) -> Result<Result<Value, Value>, Unread> {
        let execution = match self.read(store).await? {
            TaskOutcome::Error(error) => return Ok(Err(error)),
            TaskOutcome::Execution(execution) => execution,
        };
        let call: &dyn Any = &*execution;
        let outcome = reader.map_or(Ok(None), |reader| (reader.read)(call))?;
        let missing = || serde::de::Error::custom("the call has no outcome");
        Ok(outcome.ok_or_else::<serde_json::Error, _>(missing)?)
    }
}

/// Why an outcome cannot be read.
enum Unread {
    /// Its execution cannot.
    Execution(LoadError),
    /// It is of another type.
    Data(serde_json::Error),
}

impl From<LoadError> for Unread {
    fn from(error: LoadError) -> Self {
        Self::Execution(error)
    }
}

impl From<serde_json::Error> for Unread {
    fn from(error: serde_json::Error) -> Self {
        Self::Data(error)
    }
}

/// The message of this place, if there is one.
async fn message(
    store: &Store,
    to: Id,
    place: OutcomePlace,
) -> Result<Result<Option<Received>, LoadError>, Unavailable> {
    let which = Messages::One(to, place.to_string());
    let found = store.inner.backend.messages(which).await?.pop();
    Ok(found.transpose().map_err(LoadError::from))
}

/// The calls of the current entry.
struct Answers {
    all: Vec<Answer>,
    /// The number that have no outcome yet.
    open: usize,
}

impl<H: Handler> Job<'_, H> {
    /// Reads the calls that the outcomes in the inbox are of.
    pub(super) async fn learn_calls(&mut self) -> Result<(), Unavailable> {
        self.members.clear();
        self.untaken.clear();
        self.overdue_at = None;
        self.learn_overdue().await?;
        let executions: Vec<Id> = self
            .messages
            .iter()
            .filter(|message| message.actor == Call::KIND)
            .filter_map(|message| match OutcomePlace::of(&message.correlation) {
                Some(OutcomePlace::Execution(id)) => Some(id),
                _ => None,
            })
            .collect();
        let entered = self.entered().filter(|_| !executions.is_empty());
        let Some(since) = entered.map(|entered| entered + 1) else { return Ok(()) };
        let backend = &self.shared.store.inner.backend;
        let calls = backend.calls(self.lease.id, since).await?;
        self.members = calls.into_iter().flatten().map(|call| call.id).collect();
        for id in executions.into_iter().filter(|id| !self.members.contains(id)) {
            let attempts = backend.attempts(Attempts::OfMachine(id)).await?;
            // One that cannot be read stays in the inbox.
            let has_key = |it: &Result<KeyAttempt, _>| {
                it.as_ref().map_or(true, |it| matches!(it.hold, Hold::Held | Hold::Applied))
            };
            let is_kept = match attempts.last() {
                Some(newest) => has_key(newest),
                None => self.shared.store.declined_action(id).await?.is_some(),
            };
            if is_kept {
                self.untaken.insert(id);
            }
        }
        Ok(())
    }

    /// Finds out for which call the machine has waited long enough. The machine gets a message that
    /// says so, once.
    pub(super) async fn learn_overdue(&mut self) -> Result<(), Unavailable> {
        let limits = self.invocation().is_some_and(|invocation| invocation.within.is_some());
        let Some(entered) = self.entered().filter(|_| limits) else { return Ok(()) };
        let entered_at = self.machine.as_ref().map(|machine| machine.journal().past().entered_at);
        let (store, id) = (&self.shared.store, self.lease.id);
        let now = store.now();
        let calls = store.inner.backend.calls(id, entered + 1).await?;
        for call in calls.into_iter().flatten().filter(|call| !call.has_ended) {
            let execution = match store.load::<AnyExecution>(call.id).await {
                Ok(execution) => execution,
                Err(LoadError::Unavailable(error)) => return Err(error),
                // It says of itself that it cannot be read.
                Err(_) => continue,
            };
            let within = execution.context().invoked().and_then(|it| it.within_ms);
            let Some(within) = within.and_then(|it| Millis::try_from(it).ok()) else { continue };
            // It may be older than the entry that joined it, and younger than one that adopted it.
            let made_at = execution.journal().past().created_at;
            let at = entered_at.unwrap_or_default().max(made_at).saturating_add(within);
            if at > now {
                self.overdue_at = Some(self.overdue_at.map_or(at, |first| first.min(at)));
                continue;
            }
            let place = OutcomePlace::Overdue { entry: entered, position: call.position };
            let error = CallError::<Value>::Overdue { execution: call.id };
            let body = json!({ "entry": entered, "index": call.position, "error": error });
            let message = Arc::new(Message::answered(id, place, &body));
            // Of a second one, nothing is written.
            store.under_lease(id, Event::Send { message, now }).await?;
        }
        Ok(())
    }

    pub(super) fn judge_outcome(&self, message: &Queued) -> OutcomeFit {
        if self.machine.is_none() {
            return OutcomeFit::Later("the machine cannot be read".to_owned());
        }
        let is_current = match OutcomePlace::of(&message.correlation) {
            Some(OutcomePlace::Execution(id)) if self.untaken.contains(&id) => {
                return OutcomeFit::Later(format!(
                    "the call {id} ended after its state was left; its outcome waits until the state is entered again"
                ));
            }
            Some(OutcomePlace::Execution(id)) => self.members.contains(&id),
            Some(OutcomePlace::Entry { entry, .. } | OutcomePlace::Overdue { entry, .. }) => {
                Some(entry) == self.entered()
            }
            None => false,
        };
        if is_current && self.invocation().is_some() {
            OutcomeFit::Takes
        } else {
            OutcomeFit::Stale
        }
    }

    /// The number of the entry that came into the current state.
    pub(super) fn entered(&self) -> Option<u64> {
        Some(self.machine.as_ref()?.journal().past().entered)
    }

    /// The invocation of the current state.
    pub(super) fn invocation(&self) -> Option<&'static Invocation> {
        let state = Erased::state_index(self.machine.as_ref()?);
        <H::Machine as Restore>::DEFINITION.states[state].invocation.as_ref()
    }

    /// Acknowledges the outcomes that nothing depends on.
    pub(super) async fn drop_stale(&mut self) -> Result<(), Unavailable> {
        if !self.stale.is_empty() {
            let messages = std::mem::take(&mut self.stale);
            let event = Event::Acknowledge { token: self.lease.token, messages };
            self.shared.store.under_lease(self.id(), event).await?;
        }
        Ok(())
    }

    pub(super) async fn take_outcome(&mut self, message: Received) -> Result<Flow, Unavailable> {
        let Some(invocation) = self.invocation() else { return self.again().await };
        let entered = self.entered().unwrap_or_default();
        let answers = match Answers::read(&self.shared.store, self.lease.id, entered).await? {
            Ok(answers) => answers,
            Err(error) => return self.refuse(&message.correlation, error.to_string()).await,
        };
        let correlation = message.correlation.clone();
        let own = answers.all.iter().position(|answer| answer.correlation == correlation);
        let makes_none = matches!(
            OutcomePlace::of(&correlation),
            Some(OutcomePlace::Entry { position: None, .. })
        );
        if own.is_none() && !makes_none {
            // The call has its outcome now.
            self.messages.retain(|message| message.correlation != correlation);
            self.stale.push(correlation);
            return self.again().await;
        }
        if invocation.each.is_none() && answers.open > 0 {
            let why = format!("it waits for {} other calls of its set", answers.open);
            return self.keep(&correlation, why).await;
        }
        // All of them are taken together, or this one alone.
        let queued = answers.all.iter().filter(|answer| !answer.is_taken);
        let others = queued.map(|answer| &answer.correlation).filter(|it| **it != correlation);
        let others: Vec<String> = match invocation.each {
            None => others.cloned().collect(),
            Some(_) => Vec::new(),
        };
        let Invocation { done, failed, each, .. } = invocation;
        if done.is_none() && failed.is_none() && each.is_none() {
            let mut outcomes = Vec::with_capacity(answers.all.len());
            for answer in &answers.all {
                match answer.read(&self.shared.store).await {
                    Ok(outcome) => outcomes.push(outcome),
                    Err(LoadError::Unavailable(error)) => return Err(error),
                    Err(error) => return self.refuse(&correlation, error.to_string()).await,
                }
            }
            let messages = std::iter::once(correlation).chain(others).collect();
            return self.handle(Some(outcomes), messages).await;
        }
        let state = self.machine.as_ref().map(Erased::state_index);
        let reader = state.and_then(H::Machine::__outcomes);
        let definition = <H::Machine as Restore>::DEFINITION;
        let of_state = (definition, invocation, reader);
        let events = match answers.events(&self.shared.store, of_state, own).await {
            Ok(events) => events,
            Err(Unread::Execution(LoadError::Unavailable(error))) => return Err(error),
            Err(Unread::Execution(error)) => {
                return self.refuse(&correlation, error.to_string()).await;
            }
            Err(Unread::Data(error)) => {
                let why = format!(
                    "the outcome cannot be read: {error}; run a program that can read it, and requeue the message"
                );
                return self.refuse(&correlation, why).await;
            }
        };
        self.take_events(message, events, others).await
    }
}

impl Answers {
    /// The events of the triggers, as JSON.
    async fn events(
        &self,
        store: &Store,
        (definition, invocation, reader): (&Definition, &Invocation, Option<OutcomeReader>),
        own: Option<usize>,
    ) -> Result<Vec<Value>, Unread> {
        let mut events = Vec::new();
        let own = own.map(|own| &self.all[own]);
        if let (false, Some(own)) = (invocation.set, own) {
            let (trigger, value) = match own.outcome(store, reader).await? {
                Ok(receipt) => (&invocation.done, receipt),
                Err(error) => (&invocation.failed, error),
            };
            events.extend(trigger.as_ref().map(|trigger| event(definition, trigger, [value])));
            return Ok(events);
        }
        if let (Some(trigger), Some(own)) = (&invocation.each, own) {
            let outcome = as_result(own.outcome(store, reader).await?);
            events.push(event(definition, trigger, [outcome, json!(own.position)]));
        }
        let is_last = self.open == 0
            && self.all.iter().all(|answer| {
                answer.is_taken || own.is_none_or(|own| own.position == answer.position)
            });
        if let Some(trigger) =
            invocation.done.as_ref().filter(|_| is_last || invocation.each.is_none())
        {
            let mut outcomes = Vec::with_capacity(self.all.len());
            for answer in &self.all {
                outcomes.push(as_result(answer.outcome(store, reader).await?));
            }
            events.push(event(definition, trigger, [Value::Array(outcomes)]));
        }
        Ok(events)
    }

    /// The outcomes of the calls of the current entry, in their order, as far as they have one.
    async fn read(
        store: &Store,
        id: Id,
        entered: u64,
    ) -> Result<Result<Self, LoadError>, Unavailable> {
        let rows = store.inner.backend.calls(id, entered + 1).await?;
        let rows = match rows.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(rows) => rows,
            Err(broken) => return Ok(Err(broken.into())),
        };
        let (mut all, mut open) = (Vec::new(), 0);
        for position in 0.. {
            let Some(row) = rows.iter().find(|row| row.position == position) else {
                // Those without an execution have a message, and the places have no gap.
                let place = OutcomePlace::Entry { entry: entered, position: Some(position) };
                match message(store, id, place).await? {
                    Ok(Some(answer)) => all.push(Answer::of(position, &answer)),
                    Ok(None) => break,
                    Err(error) => return Ok(Err(error)),
                }
                continue;
            };
            if !row.has_ended || row.outcome.is_none() {
                let place = OutcomePlace::Overdue { entry: entered, position };
                match message(store, id, place).await? {
                    Ok(Some(overdue)) => all.push(Answer::of(position, &overdue)),
                    Ok(None) => open += 1,
                    Err(error) => return Ok(Err(error)),
                }
                continue;
            }
            let correlation = OutcomePlace::Execution(row.id).to_string();
            let of = Of::Execution(row.id);
            let is_taken = row.outcome == Some(Delivery::Handled);
            all.push(Answer { position, correlation, of, is_taken });
        }
        Ok(Ok(Self { all, open }))
    }
}

/// An event that gives its trigger these values, by position.
fn event<const N: usize>(definition: &Definition, trigger: &str, values: [Value; N]) -> Value {
    let mut event = json!({ "trigger": trigger });
    let edge = definition.edges_of(trigger).next();
    let items = edge.into_iter().flat_map(|edge| edge.payload.iter());
    for (item, value) in items.zip(values) {
        event[&*item.name] = value;
    }
    event
}

/// A `Result`, as serde writes it.
fn as_result(outcome: Result<Value, Value>) -> Value {
    match outcome {
        Ok(receipt) => json!({ "Ok": receipt }),
        Err(error) => json!({ "Err": error }),
    }
}
