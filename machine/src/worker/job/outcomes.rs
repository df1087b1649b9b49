//! The outcomes of the calls of a state.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Flow, Handler, Job,
    answers::{Answers, Unread},
    choice::MessageFit,
    is_of_heads,
};
use crate::{
    actor::{Actor, Call},
    clock::Millis,
    contract::{AnyExecution, CallError},
    definition::Invocation,
    id::Id,
    store::{
        LoadError, Received, Unavailable,
        backend::Attempts,
        inbox::{
            message::{Message, Queued},
            outcome::OutcomePlace,
            protocol::Event,
        },
        write::attempt::KeyAttempt,
    },
    stored::{Durable, Hold, Restore},
    typed::Erased,
};

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
        // The outcome of an irreversible call is left to an equal one of the same turn. Later, the
        // execution keeps it.
        let state = self.machine.as_ref().map(Erased::state_index);
        if is_of_heads::<H>() && state == Some(<H::Machine as Restore>::DEFINITION.initial) {
            return Ok(());
        }
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
        for call in calls.into_iter().flatten().filter(|call| call.ended_at.is_none()) {
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

    pub(super) fn judge_outcome(&self, message: &Queued) -> MessageFit {
        if self.machine.is_none() {
            return MessageFit::Later("the machine cannot be read".to_owned());
        }
        let is_current = match OutcomePlace::of(&message.correlation) {
            Some(OutcomePlace::Execution(id)) if self.untaken.contains(&id) => {
                return MessageFit::Later(format!(
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
            if is_of_heads::<H>() {
                return MessageFit::Later("the handler of the state has not taken it".to_owned());
            }
            MessageFit::Takes
        } else {
            MessageFit::Stale
        }
    }

    /// The number of the entry that came into the current state.
    pub(super) fn entered(&self) -> Option<u64> {
        Some(self.machine.as_ref()?.journal().past().entered)
    }

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
        let correlation = message.correlation.clone();
        let answers = match Answers::read(&self.shared.store, self.lease.id, entered).await {
            Ok(answers) => answers,
            Err(error) => return self.refuse_unread(&correlation, error.into()).await,
        };
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
                    Err(error) => return self.refuse_unread(&correlation, error.into()).await,
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
            Err(error) => return self.refuse_unread(&correlation, error).await,
        };
        self.take_events(message, events, others).await
    }

    /// The outcome that a message brings cannot be read.
    async fn refuse_unread(&mut self, correlation: &str, why: Unread) -> Result<Flow, Unavailable> {
        match why {
            Unread::Execution(LoadError::Unavailable(error)) => Err(error),
            why => self.refuse(correlation, why.to_string()).await,
        }
    }
}
