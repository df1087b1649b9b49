//! What needs attention because workers do not, or cannot, drive it.

use std::collections::BTreeMap;

use super::{
    Concern, ConcernReason, NextStep, Observer, Trouble, concern_list::ConcernList,
    undriven::PATIENCE, waiting::STUCK,
};
use crate::view::Audience;
use crate::{
    id::Id,
    store::{Failing, LoadError, Query, SetAside, backend::Schedules, inbox::limits::MAX_QUEUED},
};

impl Observer {
    /// Machines whose last attempt failed; those that are set aside with the messages that are:
    /// they are not retried until a person requeues them.
    pub(super) async fn in_trouble<A: Audience>(
        &self,
        reason: ConcernReason,
        found: &mut ConcernList<A>,
        query: &Query,
        machines: Vec<Failing>,
    ) -> Result<(), LoadError> {
        let is_aside = reason == ConcernReason::SetAside;
        let set_aside = if is_aside { self.store.set_aside().await? } else { SetAside::default() };
        let machines = machines.into_iter();
        let mut errors: BTreeMap<Id, (Trouble, Option<String>)> =
            machines.map(|it| (it.id, (Trouble::of(&it), Some(it.error)))).collect();
        let mut messages: BTreeMap<Id, Vec<String>> = BTreeMap::new();
        for message in set_aside.messages {
            // An ended machine accepts no more messages, and one that has moved on not this one,
            // so there is nothing to do.
            let machine = self.store.observed_one(message.to).await.ok();
            if machine.as_ref().is_some_and(|it| it.has_ended() || it.has_moved_since(&message)) {
                continue;
            }
            let trouble = Trouble::of_message(&message, machine.as_ref());
            let error =
                message.error.map(|error| format!("message {}: {error}", message.correlation));
            errors.entry(message.to).or_insert((trouble, error));
            messages.entry(message.to).or_default().push(message.correlation);
        }
        for id in self.store.selected(query, errors.keys().copied().collect()).await? {
            let Some((trouble, error)) = errors.remove(&id) else { continue };
            if let Some(mut concern) = self.concern::<A>(reason, id, found).await? {
                concern.trouble = Some(trouble);
                concern.error = A::__internal(|| error);
                if is_aside {
                    let messages = messages.remove(&id).unwrap_or_default();
                    concern.next.insert(0, NextStep::Requeue { id, messages });
                }
                found.add(concern);
            }
        }
        for (id, error) in set_aside.unreadable {
            found.add(Concern::unreadable(id, &error));
        }
        Ok(())
    }

    /// Machines that no live worker moves on, that nothing can move, or that have many queued
    /// messages.
    pub(super) async fn not_moving<A: Audience>(
        &self,
        reason: ConcernReason,
        found: &mut ConcernList<A>,
        query: &Query,
    ) -> Result<(), LoadError> {
        let limit = query.page_limit();
        let mut machines: BTreeMap<Id, String> = match reason {
            ConcernReason::NoWorker => {
                let undriven = self.store.undriven(PATIENCE, limit).await?.into_iter();
                undriven.map(|it| (it.id, it.unmet.to_string())).collect()
            }
            ConcernReason::Stuck => {
                let stuck = self.store.stuck(PATIENCE, limit).await?.into_iter();
                stuck.map(|(id, _)| (id, STUCK.to_owned())).collect()
            }
            _ => {
                let crowded = self.store.inner.backend.schedules(Schedules::Crowded(limit)).await?;
                crowded.into_iter().map(|(id, work)| (id, many_messages(work.queued))).collect()
            }
        };
        found.truncated |= machines.len() >= limit;
        for id in self.store.selected(query, machines.keys().copied().collect()).await? {
            let Some(text) = machines.remove(&id) else { continue };
            if let Some(mut concern) = self.concern::<A>(reason, id, found).await? {
                let is_missing = reason == ConcernReason::NoWorker;
                let field = if is_missing { &mut concern.missing } else { &mut concern.cause };
                *field = Some(text);
                if reason == ConcernReason::Stuck {
                    concern.next.insert(0, NextStep::Requeue { id, messages: Vec::new() });
                }
                found.add(concern);
            }
        }
        Ok(())
    }
}

fn many_messages(queued: u32) -> String {
    format!(
        "{queued} messages are queued; with {MAX_QUEUED}, it gets no more from programs and people: find out why it \
         does not take them"
    )
}
