//! Inboxes and leases. What happens to them is decided by [`step`]; this keeps the result.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use super::{Tables, calls::entered};
use crate::{
    clock::{Clock, Millis},
    id::Id,
    store::{
        backend::{
            Child, CrewChange, FoundRow, Kinship, Messages, ReadyMachine, Schedules, WorkRows,
            Write, WriteBatch,
        },
        inbox::{
            limits::MANY_QUEUED,
            message::{Delivery, Outgoing, Queued, Received},
            protocol::{
                Effects, Event, EventOutcome, InboxState, MessageState, Schedule, To, Wake, caused,
                step,
            },
        },
    },
};

#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Works {
    pub(in crate::store) driven: Vec<String>,
    pub(in crate::store) states: BTreeMap<Id, InboxState>,
    /// All messages, in the order in which they arrived.
    pub(in crate::store) messages: Vec<Delivered>,
    pub(in crate::store) parents: BTreeMap<Id, Kinship>,
}

/// The immutable part of a message.
#[derive(Debug, Clone)]
pub(in crate::store) struct Delivered {
    pub(super) to: Id,
    message: Arc<Outgoing>,
    sent_at: Millis,
    /// Its state when another message took its correlation id.
    replaced: Option<MessageState>,
}

impl Delivered {
    /// It is the outcome of a call.
    #[cfg(test)]
    pub(in crate::store) fn is_outcome(&self) -> bool {
        self.message.actor == <crate::actor::Call as crate::actor::Actor>::KIND
    }

    /// It is the message to a machine with this correlation id.
    pub(super) fn is(&self, to: Id, correlation: &str) -> bool {
        self.to == to && self.message.correlation == correlation
    }

    /// Returns its state; `of_machine` has the newest message of each correlation id.
    fn state(&self, of_machine: Option<&InboxState>) -> MessageState {
        let newest = of_machine.and_then(|it| it.messages.get(&self.message.correlation));
        self.replaced.as_ref().or(newest).cloned().unwrap_or_default()
    }
}

impl Tables {
    /// Writes the decided effects, and then the consequences of the batch.
    pub(super) fn write_work(
        &mut self,
        batch: &WriteBatch,
        decided: Vec<(Option<()>, Effects)>,
    ) -> Vec<EventOutcome> {
        for kind in &batch.drives {
            if !self.works.driven.contains(kind) {
                self.works.driven.push(kind.clone());
                let of_kind = self.machines.iter().filter(|it| it.row.machine == *kind);
                for id in of_kind.map(|it| it.row.id).collect::<Vec<_>>() {
                    self.apply_event(id, &Event::Drive { now: batch.now });
                }
            }
        }
        for new in &batch.children {
            let version = self.find(new.parent).map_or(0, |parent| parent.row.version);
            self.works.parents.insert(new.child, new.kinship(version));
        }
        self.works.parents.extend(batch.moved_children.iter().copied());
        let mut outcomes = Vec::with_capacity(decided.len());
        for ((_, effects), (id, event)) in decided.into_iter().zip(&batch.events) {
            outcomes.push(effects.outcome);
            self.record(*id, (event, batch.clock.as_ref()), &effects);
        }
        match &batch.crew {
            Some(CrewChange::Put(worker)) => drop(self.crew.insert(worker.id, worker.clone())),
            Some(CrewChange::Remove(workers)) => self.crew.retain(|id, _| !workers.contains(id)),
            None => {}
        }
        outcomes
    }

    /// Writes the consequences of a batch; returns the messages that are new.
    pub(super) fn write_caused(
        &mut self,
        batch: &WriteBatch,
        leave_children: &[bool],
    ) -> Vec<(Id, EventOutcome)> {
        let (mut sent, now) = (Vec::new(), batch.time());
        for (write, leaves_children) in batch.writes.iter().zip(leave_children) {
            let id = write.row.id;
            let child = self.works.parents.get(&id).copied();
            let parent_leaves =
                batch.lets_go(id) || child.is_some_and(|child| batch.leaves(child.parent));
            let is_of_visit = child.is_some_and(|child| {
                self.find(child.parent).is_some_and(|parent| child.since > entered(&parent.row))
            });
            let by = (batch.is_by_holder(id), *leaves_children);
            let of_parent = (parent_leaves, is_of_visit);
            for (to, event) in caused(write, child.as_ref(), by, of_parent, now) {
                for id in self.recipients(write, to) {
                    // Only machines of kinds that workers drive have work.
                    if !matches!(event, Event::Drive { .. })
                        || self.works.driven.contains(&write.row.machine)
                    {
                        let outcome = self.apply_event(id, &event);
                        sent.extend(event.new_message(outcome).map(|outcome| (id, outcome)));
                    }
                }
            }
        }
        sent
    }

    fn recipients(&self, write: &Write, to: To) -> Vec<Id> {
        let id = write.row.id;
        match to {
            To::Itself => vec![id],
            To::Parent => self.parent(id).into_iter().collect(),
            To::Behind => {
                let behind = self.machines.iter().filter(|it| it.row.behind == Some(id));
                behind.map(|it| it.row.id).collect()
            }
            To::Machines { since, until } => {
                let children = self.children(id).into_iter();
                let of_visit = children.filter(|child| (since..=until).contains(&child.since));
                of_visit.filter(Child::is_live_machine).map(|child| child.id).collect()
            }
        }
    }

    /// An event that changes nothing if it is refused. Returns its outcome.
    fn apply_event(&mut self, id: Id, event: &Event) -> Option<EventOutcome> {
        let effects = step(&self.inbox_state(id), event).ok()?;
        self.record(id, (event, None), &effects);
        Some(effects.outcome)
    }

    /// Keeps the effects of an event. A message is sent at the time of the clock, if there is one.
    fn record(
        &mut self,
        id: Id,
        (event, clock): (&Event, Option<&Arc<dyn Clock>>),
        effects: &Effects,
    ) {
        if let Event::Send { message, now } = event
            && effects.outcome != EventOutcome::Duplicate
        {
            if effects.replaces {
                self.replace(id, &message.correlation);
            }
            let message = Arc::clone(message);
            let sent_at = clock.map_or(*now, |clock| clock.now());
            self.works.messages.push(Delivered { to: id, message, sent_at, replaced: None });
        }
        self.works.states.entry(id).or_default().apply(effects);
    }

    /// Another message takes the correlation id of one that was set aside.
    fn replace(&mut self, id: Id, correlation: &str) {
        let known = self.works.states.get(&id).and_then(|it| it.messages.get(correlation));
        let known = known.cloned().unwrap_or_default();
        let mut newest = self.works.messages.iter_mut().rev();
        if let Some(it) = newest.find(|it| it.is(id, correlation)) {
            it.replaced = Some(MessageState { status: Delivery::Replaced, ..known });
        }
    }

    pub(super) fn inbox_state(&self, id: Id) -> InboxState {
        let ended = self.find(id).is_some_and(|stored| stored.row.ended);
        InboxState { ended, ..self.works.states.get(&id).cloned().unwrap_or_default() }
    }

    pub(super) fn ready(&self, kinds: &[String], limit: usize, now: Millis) -> Vec<ReadyMachine> {
        let mut all = Vec::new();
        for kind in kinds {
            let works = self.works.states.iter().filter_map(|(id, state)| {
                let is_of_kind = self.find(*id).is_some_and(|it| it.row.machine == *kind);
                Some((*id, state.work.as_ref().filter(|_| is_of_kind)?))
            });
            let [mut of_kind, mut for_others]: [Vec<ReadyMachine>; 2] = Default::default();
            for (id, work) in works {
                let lease = work.lease.as_ref().map(|lease| Wake::by_clock(lease.until));
                let ready = |wake| ReadyMachine {
                    id,
                    token: work.token,
                    revision: work.revision,
                    wake,
                    worker: work.lease.as_ref().map(|lease| lease.worker.clone()),
                    attempts: work.handler.attempts.saturating_add(work.deadline.attempts),
                };
                of_kind.extend(lease.or(work.wake).map(ready));
                for_others.extend(work.others_at.map(Wake::ready).map(ready));
            }
            of_kind.sort_by_key(|ready| ready.wake.set_at);
            let from_later = of_kind.iter().filter(|ready| ready.wake.is_from_later(now));
            all.extend(from_later.take(limit).cloned());
            for_others.sort_by_key(|ready| ready.wake.at);
            for_others.truncate(limit);
            all.extend(for_others);
            of_kind.sort_by_key(|ready| ready.wake.at);
            of_kind.truncate(limit);
            all.extend(of_kind);
        }
        all
    }

    pub(super) fn lease_holders(&self) -> Vec<String> {
        let works = self.works.states.values().filter_map(|state| state.work.as_ref());
        let mut all: Vec<_> =
            works.filter_map(|work| work.lease.as_ref()).map(|it| it.worker.clone()).collect();
        all.sort();
        all.dedup();
        all
    }

    pub(super) fn task(&self, id: Id) -> WorkRows {
        let found = self.rows(&[id]).pop().unwrap_or(FoundRow::Missing(id));
        let state = self.works.states.get(&id);
        let work = state.and_then(|state| state.work.clone());
        let sent = self.works.messages.iter().filter(|it| it.to == id);
        let queued = sent.filter_map(|delivered| {
            let Delivered { message, sent_at, .. } = delivered;
            let MessageState { status, attempts, fault, .. } = delivered.state(state);
            (status == Delivery::Queued).then(|| Queued {
                correlation: message.correlation.clone(),
                actor: message.actor.clone(),
                trigger: message.trigger(),
                sent_at: *sent_at,
                attempts,
                fault,
                intact: true,
            })
        });
        (found, work, queued.collect())
    }

    pub(super) fn received(&self, which: &Messages) -> Vec<Received> {
        let received = self.works.messages.iter().map(|delivered| {
            let Delivered { to, message, sent_at, .. } = delivered;
            let state = delivered.state(self.works.states.get(to));
            Received::of(*to, (**message).clone(), *sent_at, state)
        });
        let wanted = |received: &Received| match which {
            Messages::To(id) => received.to == *id,
            Messages::One(id, correlation) => {
                received.to == *id
                    && received.correlation == *correlation
                    && received.status != Delivery::Replaced
            }
            Messages::SetAside => received.status == Delivery::SetAside,
            Messages::SetAsideOf(id) => received.to == *id && received.status == Delivery::SetAside,
            Messages::Queued(before, _) => {
                received.status == Delivery::Queued && received.sent_at <= *before
            }
            Messages::All => true,
        };
        let limit = if let Messages::Queued(_, limit) = which { *limit } else { usize::MAX };
        received.filter(wanted).take(limit).collect()
    }

    pub(super) fn schedules(&self, which: Schedules) -> Vec<(Id, Schedule)> {
        let works = self.machines.iter().filter_map(|stored| {
            let state = self.works.states.get(&stored.row.id)?;
            let work = state.work.as_ref()?;
            let is_wanted = match which {
                Schedules::Failing => work.failed.is_some(),
                Schedules::Crowded(_) => work.queued > MANY_QUEUED,
                Schedules::Stuck(before, _) => work.stuck_at.is_some_and(|at| at <= before),
                Schedules::Miscounted => work.queued != state.count_queued(),
            };
            is_wanted.then(|| (stored.row.id, work.clone()))
        });
        let mut found: Vec<_> = works.collect();
        match which {
            Schedules::Crowded(limit) => {
                found.sort_by_key(|(_, work)| Reverse(work.queued));
                found.truncate(limit);
            }
            Schedules::Stuck(_, limit) => {
                found.sort_by_key(|(_, work)| work.stuck_at);
                found.truncate(limit);
            }
            Schedules::Failing | Schedules::Miscounted => {}
        }
        found
    }

    /// A parent that was pruned is none.
    pub(super) fn parent(&self, child: Id) -> Option<Id> {
        let parent = self.works.parents.get(&child).map(|kinship| kinship.parent);
        parent.filter(|parent| self.find(*parent).is_some())
    }

    pub(super) fn children(&self, parent: Id) -> Vec<Child> {
        let child = |it: &super::MachineRow| {
            let kinship = self.works.parents.get(&it.row.id).filter(|it| it.parent == parent)?;
            Some(Child {
                id: it.row.id,
                machine: it.row.machine.clone(),
                status: it.row.status.clone(),
                has_ended: it.row.ended,
                position: kinship.position,
                since: kinship.since,
            })
        };
        self.machines.iter().filter_map(child).collect()
    }
}
