//! The outcomes of the calls of a state, as the store has them.

use std::any::Any;

use serde_json::{Value, json};

use crate::{
    definition::{Definition, Invocation},
    id::Id,
    store::{
        Delivery, LoadError, Received, Store, backend::Messages, inbox::outcome::OutcomePlace,
    },
    stored::OutcomeReader,
    worker::task::TaskOutcome,
};

/// A call of the current entry that has an outcome.
pub(super) struct Answer {
    position: u32,
    pub(super) correlation: String,
    of: Of,
    pub(super) is_taken: bool,
}

/// Where an outcome is. A set has many, and they come one by one, so an execution is read when its
/// outcome is taken.
enum Of {
    Execution(Id),
    Error(Value),
}

impl Answer {
    fn of(position: u32, message: &Received) -> Self {
        let body: Value = serde_json::from_str(&message.body).unwrap_or_default();
        let of = Of::Error(body["error"].clone());
        let is_taken = message.status == Delivery::Handled;
        Self { position, correlation: message.correlation.clone(), of, is_taken }
    }

    pub(super) async fn read(&self, store: &Store) -> Result<TaskOutcome, LoadError> {
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

pub(super) struct Answers {
    pub(super) all: Vec<Answer>,
    /// The number that have no outcome yet.
    pub(super) open: usize,
}

/// The message of this place, if there is one.
async fn message(
    store: &Store,
    to: Id,
    place: OutcomePlace,
) -> Result<Option<Received>, LoadError> {
    let which = Messages::One(to, place.to_string());
    Ok(store.inner.backend.messages(which).await?.pop().transpose()?)
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Unread {
    /// Its execution cannot.
    #[error(transparent)]
    Execution(#[from] LoadError),
    /// It is of another type.
    #[error(
        "the outcome cannot be read: {0}; run a program that can read it, and requeue the message"
    )]
    Data(#[from] serde_json::Error),
}

impl Answers {
    pub(super) async fn events(
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
            let outcome = json!(own.outcome(store, reader).await?);
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
                outcomes.push(json!(answer.outcome(store, reader).await?));
            }
            events.push(event(definition, trigger, [Value::Array(outcomes)]));
        }
        Ok(events)
    }

    /// The outcomes of the calls of the current entry, in their order, as far as they have one.
    pub(super) async fn read(store: &Store, id: Id, entered: u64) -> Result<Self, LoadError> {
        let rows = store.inner.backend.calls(id, entered + 1).await?;
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (mut all, mut open) = (Vec::new(), 0);
        for position in 0.. {
            let Some(row) = rows.iter().find(|row| row.position == position) else {
                // Those without an execution have a message, and the places have no gap.
                let place = OutcomePlace::Entry { entry: entered, position: Some(position) };
                match message(store, id, place).await? {
                    Some(answer) => all.push(Answer::of(position, &answer)),
                    None => break,
                }
                continue;
            };
            if row.ended_at.is_none() || row.outcome.is_none() {
                let place = OutcomePlace::Overdue { entry: entered, position };
                match message(store, id, place).await? {
                    Some(overdue) => all.push(Answer::of(position, &overdue)),
                    None => open += 1,
                }
                continue;
            }
            let correlation = OutcomePlace::Execution(row.id).to_string();
            let of = Of::Execution(row.id);
            let is_taken = row.outcome == Some(Delivery::Handled);
            all.push(Answer { position, correlation, of, is_taken });
        }
        Ok(Self { all, open })
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
