//! Inboxes and leases. What happens to them is decided by [`step`]; this keeps the result.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::Data;
use crate::{
    id::Id,
    store::{
        backend::{Agenda, Batch, Child, Crew, Found, Messages, Rejected, Task},
        inbox::{
            message::{Delivery, Outgoing, Queued, Received},
            protocol::{
                Effects, Event, MessageState, MessageStatus, Outcome, State, To, Work, caused, step,
            },
        },
    },
};

/// Inboxes and leases of all machines.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Works {
    /// The kinds that workers drive.
    pub(in crate::store) driven: Vec<String>,
    pub(in crate::store) states: BTreeMap<Id, State>,
    /// All messages, in the order in which they arrived.
    pub(in crate::store) messages: Vec<Delivered>,
    /// Children and their parents.
    pub(in crate::store) parents: BTreeMap<Id, Id>,
}

/// The immutable part of a message.
#[derive(Debug, Clone)]
pub(in crate::store) struct Delivered {
    pub(super) to: Id,
    message: Arc<Outgoing>,
    sent_at: crate::clock::Millis,
    /// Its state when another message took its correlation id.
    replaced: Option<MessageState>,
}

impl Delivered {
    /// Returns its state; `of_machine` has the newest message of each correlation id.
    fn state(&self, of_machine: Option<&State>) -> MessageState {
        let newest = of_machine.and_then(|it| it.messages.get(&self.message.correlation));
        self.replaced.as_ref().or(newest).cloned().unwrap_or_default()
    }
}

/// The events of a batch with what they change.
pub(super) type Decided = Vec<(Id, Event, Effects)>;

impl Data {
    /// Decides all events of a batch, each after those before it.
    pub(super) fn decide(&self, batch: &Batch) -> Result<Decided, Rejected> {
        for (_, parent) in &batch.children {
            match self.find(*parent) {
                None if !batch.creates(*parent) => return Err(Rejected::NotFound(*parent)),
                Some(stored) if stored.row.ended => return Err(Rejected::Ended(*parent)),
                Some(_) | None => {}
            }
        }
        let mut copies: HashMap<Id, State> = HashMap::new();
        let mut decided = Vec::with_capacity(batch.events.len());
        for (id, event) in &batch.events {
            if self.find(*id).is_none() && !batch.creates(*id) {
                return Err(Rejected::NotFound(*id));
            }
            let state = copies.entry(*id).or_insert_with(|| self.state(*id));
            let effects =
                step(state, event).map_err(|refusal| Rejected::by_protocol(*id, event, refusal))?;
            state.apply(&effects);
            decided.push((*id, event.clone(), effects));
        }
        Ok(decided)
    }

    /// Writes what was decided, and then what the writes of the batch cause.
    pub(super) fn write_work(&mut self, batch: &Batch, decided: Decided) -> Vec<Outcome> {
        for kind in &batch.drives {
            if !self.works.driven.contains(kind) {
                self.works.driven.push(kind.clone());
                let of_kind = self.machines.iter().filter(|it| it.row.machine == *kind);
                for id in of_kind.map(|it| it.row.id).collect::<Vec<_>>() {
                    self.happens(id, &Event::Drive { now: batch.now });
                }
            }
        }
        for (child, parent) in &batch.children {
            self.works.parents.insert(*child, *parent);
        }
        let mut outcomes = Vec::with_capacity(decided.len());
        for (id, event, effects) in decided {
            outcomes.push(effects.outcome);
            self.record(id, &event, &effects);
        }
        match &batch.crew {
            Some(Crew::Joins(worker)) => drop(self.crew.insert(worker.id, worker.clone())),
            Some(Crew::Leave(workers)) => self.crew.retain(|id, _| !workers.contains(id)),
            None => {}
        }
        outcomes
    }

    /// Writes what the writes of a batch cause.
    pub(super) fn write_caused(&mut self, batch: &Batch) {
        for write in &batch.writes {
            let id = write.row.id;
            for (to, event) in caused(write, batch.is_by_holder(id), batch.now) {
                for id in self.recipients(id, to) {
                    // Only machines of kinds that workers drive have work.
                    if !matches!(event, Event::Drive { .. })
                        || self.works.driven.contains(&write.row.machine)
                    {
                        self.happens(id, &event);
                    }
                }
            }
        }
    }

    fn recipients(&self, id: Id, to: To) -> Vec<Id> {
        match to {
            To::Itself => vec![id],
            To::Waiting => {
                let parent = self.works.parents.get(&id).copied();
                let behind = self.machines.iter().filter(|it| it.row.behind == Some(id));
                parent.into_iter().chain(behind.map(|it| it.row.id)).collect()
            }
            To::Children => {
                let children = self.works.parents.iter().filter(|(_, parent)| **parent == id);
                let open = |id: &Id| self.find(*id).is_some_and(|it| !it.row.ended);
                children.map(|(child, _)| *child).filter(open).collect()
            }
        }
    }

    /// An event that is never refused.
    fn happens(&mut self, id: Id, event: &Event) {
        if let Ok(effects) = step(&self.state(id), event) {
            self.record(id, event, &effects);
        }
    }

    fn record(&mut self, id: Id, event: &Event, effects: &Effects) {
        if let Event::Send { message, now } = event
            && effects.outcome != Outcome::Duplicate
        {
            if effects.replaces {
                self.replace(id, &message.correlation);
            }
            let message = Arc::clone(message);
            self.works.messages.push(Delivered { to: id, message, sent_at: *now, replaced: None });
        }
        self.works.states.entry(id).or_default().apply(effects);
    }

    /// Another message takes the correlation id of one that was set aside.
    fn replace(&mut self, id: Id, correlation: &str) {
        let known = self.works.states.get(&id).and_then(|it| it.messages.get(correlation));
        let known = known.cloned().unwrap_or_default();
        let mut newest = self.works.messages.iter_mut().rev();
        if let Some(it) = newest.find(|it| it.to == id && it.message.correlation == correlation) {
            it.replaced = Some(MessageState { status: MessageStatus::Replaced, ..known });
        }
    }

    fn state(&self, id: Id) -> State {
        let ended = self.find(id).is_some_and(|stored| stored.row.ended);
        State { ended, ..self.works.states.get(&id).cloned().unwrap_or_default() }
    }

    pub(super) fn agenda(&self, kinds: &[String], limit: usize) -> Vec<Agenda> {
        let mut all = Vec::new();
        for kind in kinds {
            let of_kind = self.works.states.iter().filter(|(id, _)| {
                self.find(**id).is_some_and(|stored| stored.row.machine == *kind)
            });
            let mut of_kind: Vec<Agenda> = of_kind
                .filter_map(|(id, state)| {
                    let work = state.work.as_ref()?;
                    let at = work.lease.as_ref().map(|lease| lease.until).or(work.wake_at)?;
                    let worker = work.lease.as_ref().map(|lease| lease.worker.clone());
                    let attempts = work.handler.attempts.saturating_add(work.deadline.attempts);
                    Some(Agenda {
                        id: *id,
                        token: work.token,
                        news: work.news,
                        at,
                        worker,
                        attempts,
                    })
                })
                .collect();
            of_kind.sort_by_key(|agenda| agenda.at);
            of_kind.truncate(limit);
            all.extend(of_kind);
        }
        all
    }

    pub(super) fn holders(&self) -> Vec<String> {
        let works = self.works.states.values().filter_map(|state| state.work.as_ref());
        let mut all: Vec<_> =
            works.filter_map(|work| work.lease.as_ref()).map(|it| it.worker.clone()).collect();
        all.sort();
        all.dedup();
        all
    }

    pub(super) fn task(&self, id: Id) -> Task {
        let found = self.rows(&[id]).pop().unwrap_or(Found::Missing(id));
        let state = self.works.states.get(&id);
        let work = state.and_then(|state| state.work.clone());
        let mut queued = Vec::new();
        for delivered in self.works.messages.iter().filter(|it| it.to == id) {
            let message = &delivered.message;
            let MessageState { status, attempts, fault, .. } = delivered.state(state);
            if status == MessageStatus::Queued {
                let (correlation, actor) = (message.correlation.clone(), message.actor.clone());
                let trigger = message.trigger();
                queued.push(Queued { correlation, actor, trigger, attempts, fault, intact: true });
            }
        }
        (found, work, queued)
    }

    pub(super) fn received(&self, which: &Messages) -> Vec<Received> {
        let received = self.works.messages.iter().map(|delivered| {
            let Delivered { to, message, sent_at, .. } = delivered;
            let state = delivered.state(self.works.states.get(to));
            let MessageState { status, attempts, fault, .. } = state;
            let (cause, error) = fault.map(|fault| (fault.cause, fault.error)).unzip();
            let Outgoing { correlation, actor, name, body, seen } = (**message).clone();
            let (to, sent_at, status) = (*to, *sent_at, status.into());
            Received {
                to,
                correlation,
                actor,
                name,
                body,
                seen,
                sent_at,
                status,
                attempts,
                error,
                cause,
            }
        });
        let wanted = |received: &Received| match which {
            Messages::To(id) => received.to == *id,
            Messages::One(id, correlation) => {
                received.to == *id
                    && received.correlation == *correlation
                    && received.status != Delivery::Replaced
            }
            Messages::SetAside => received.status == MessageStatus::SetAside.into(),
            Messages::Queued(before, _) => {
                received.status == Delivery::Queued && received.sent_at <= *before
            }
            Messages::All => true,
        };
        let limit = if let Messages::Queued(_, limit) = which { *limit } else { usize::MAX };
        received.filter(wanted).take(limit).collect()
    }

    pub(super) fn failing(&self) -> Vec<(Id, Work)> {
        let works = self.machines.iter().filter_map(|stored| {
            let id = stored.row.id;
            Some((id, self.works.states.get(&id)?.work.as_ref()?))
        });
        works.filter(|(_, work)| work.failed.is_some()).map(|(id, it)| (id, it.clone())).collect()
    }

    /// A parent that was pruned is none.
    pub(super) fn parent(&self, child: Id) -> Option<Id> {
        let parent = self.works.parents.get(&child).copied();
        parent.filter(|parent| self.find(*parent).is_some())
    }

    pub(super) fn children(&self, parent: Id) -> Vec<Child> {
        let of_parent =
            self.machines.iter().filter(|it| self.works.parents.get(&it.row.id) == Some(&parent));
        let child = |it: &super::Stored| Child {
            id: it.row.id,
            machine: it.row.machine.clone(),
            status: it.row.status.clone(),
            has_ended: it.row.ended,
        };
        of_parent.map(child).collect()
    }
}
