use std::collections::HashSet;

use tracing::field::display;

use crate::{
    effects::{
        batch::{batch::Batch, calls::Calls, earlier_try::commit_id, item::Item},
        committed::emit_committed,
        consequences::BatchConsequences,
        error::EffectError,
        identity::maker_of,
        leave::Left,
        requirements::may_be_stored,
    },
    id::Id,
    journal::StoredState,
    store::{
        backend::{self, AppliedBatch, Condition, NewChild, Rejected},
        error::{CommitError, Unavailable},
        handle::Store,
        inbox::{protocol::EventOutcome, sent},
        operation::Act,
        write::{prepare::Prepared, under_way::CALLS},
    },
    telemetry,
};

impl Batch<'_> {
    /// Drops what an earlier try brought, and moves the copies of the changes that have none yet.
    async fn prepare_changes(&mut self) -> Result<(), EffectError> {
        self.items.retain(|item| !matches!(item, Item::Brought(..)));
        let approved: Vec<_> =
            self.items.iter().filter_map(|item| item.change()?.approval()).collect();
        for item in &mut self.items {
            if let Item::Change(change) = item {
                change.prepare(self.store, &approved).await?;
            }
        }
        Ok(())
    }

    /// Tries once to write everything; `left` are the machines whose calls may end with it. Returns
    /// the outcome of each event.
    pub(super) async fn write_once(
        &mut self,
        left: &[Left],
    ) -> Result<Vec<EventOutcome>, EffectError> {
        self.prepare_changes().await?;
        self.makes_no_call()?;
        let acts: Vec<Act> = self.acts.iter().cloned().chain(self.acts_of_changes()).collect();
        let log = acts.iter().cloned().map(|act| act.line(self.store, "done")).collect();
        let (commit_id, now) = (commit_id(&mut self.items), self.store.now());
        // The ids of the calls depend on the time of the entry.
        self.items.iter_mut().for_each(|item| item.journal().set_times(now));
        let Calls { new, joined, events: answers } = self.enter().await?;
        self.items.extend(new.into_iter().map(|(child, machine)| Item::Brought(child, machine)));
        let children = self.new_children();
        let Self { store, items, events, conditions, records, by_handler, .. } = self;
        let store: &Store = store;
        let mut prepared = Vec::with_capacity(items.len());
        // The positions of the items that have something to write.
        let mut positions = Vec::with_capacity(items.len());
        for (position, item) in items.iter_mut().enumerate() {
            let creates = item.is_new();
            if let Some(ready) = store.prepare(item.machine(), creates, (commit_id, now))? {
                may_be_stored(item.machine(), &ready)?;
                prepared.push(ready);
                positions.push(position);
            }
        }
        if prepared.is_empty() && events.is_empty() && records.is_empty() {
            return Ok(Vec::new());
        }
        no_machine_twice(&prepared)?;
        let BatchConsequences { ended, conditions: mut required, let_go } =
            store.consequences(left, &acts, &mut prepared, commit_id).await?;
        required.extend(conditions.iter().cloned());
        required.extend(items.iter().filter_map(|it| Some(it.change()?.conditions())).flatten());
        let gates: Vec<_> = items.iter().map(|item| item.change()?.gate()).collect();
        for (position, ready) in prepared.iter().enumerate() {
            // The machines that were added come after those of the items.
            let known = positions.get(position).and_then(|item| gates[*item].clone());
            if let Some(requirement) = store.gate_is_open(ready, &prepared, known).await? {
                required.push(Condition::Required { by: ready.write.row.id, requirement });
            }
            store.repeats_no_child(ready).await?;
            let maker = positions.get(position).and_then(|item| maker_of(items[*item].machine()));
            store.trust_plan(ready, maker).await?;
        }
        let mut batch = backend::WriteBatch {
            events: events.iter().cloned().chain(answers).collect(),
            children,
            moved_children: let_go.into_iter().chain(joined).collect(),
            conditions: required,
            records: records.clone(),
            log,
            ..backend::WriteBatch::new(commit_id, store.now()).at_transaction(&store.inner.clock)
        };
        let sent = sent::sent(&batch.events);
        let stored = fill(&mut batch, prepared);
        // If the future is dropped from here on, the outcome of the batch is unknown. The machine
        // remembers the id of the commit, so that the same commit can be recognized later.
        let before = mark_tried(items, &positions, commit_id);
        match store.inner.backend.apply(batch).await {
            Ok(Ok(AppliedBatch { last, outcomes, sent: caused, .. })) => {
                for ((position, stored), last) in positions.iter().zip(stored).zip(last) {
                    let item = &mut items[*position];
                    emit_committed(item.machine());
                    item.journal().mark_stored(stored);
                    if let Item::Change(change) = item {
                        change.committed(store, last);
                    }
                }
                for call in &ended {
                    emit_committed(call);
                }
                if *by_handler {
                    for left in left {
                        warn_of_cancelled(left, &caused);
                    }
                }
                sent::sent_with(&sent, &outcomes);
                sent::caused_with(&caused);
                Ok(outcomes)
            }
            // An earlier try created it, its answer was lost, and it has moved on since.
            Ok(Err(Rejected::Commit(CommitError::AlreadyStored { id })))
                if store.is_created_by(id, &positions, &stored, &before, items).await? =>
            {
                for (position, stored) in positions.iter().zip(stored) {
                    emit_committed(items[*position].machine());
                    items[*position].journal().mark_stored(stored);
                }
                Ok(Vec::new())
            }
            Ok(Err(rejected)) => {
                for position in &positions {
                    items[*position].journal().set_commit_id(None);
                }
                Err(rejected.into())
            }
            // An error leaves open what was open before.
            Err(error @ Unavailable::Indeterminate(_)) => Err(error.into()),
            Err(error) => {
                for (position, before) in positions.iter().zip(before) {
                    items[*position].journal().set_commit_id(before);
                }
                Err(error.into())
            }
        }
    }

    /// Refuses what only the table of a machine makes: an execution as a child, or in the batch of
    /// a handler.
    fn makes_no_call(&self) -> Result<(), EffectError> {
        for item in &self.items {
            let Item::Create(machine) = item else { continue };
            let id = machine.journal().id();
            let is_child = || self.children.iter().any(|new| new.child == id);
            if machine.definition().name == CALLS && (self.by_handler || is_child()) {
                return Err(EffectError::CallByHand { id });
            }
        }
        Ok(())
    }

    /// The children that the caller and the machines of the batch add.
    fn new_children(&self) -> Vec<NewChild> {
        let brought = self.items.iter().filter_map(|item| match item {
            Item::Brought(child, _) => *child,
            _ => None,
        });
        self.children.iter().copied().chain(brought).collect()
    }
}

/// Adds what was prepared. Returns what is on disk after the batch.
fn fill(batch: &mut backend::WriteBatch, prepared: Vec<Prepared>) -> Vec<StoredState> {
    let mut stored = Vec::with_capacity(prepared.len());
    for ready in prepared {
        for definition in ready.definitions {
            let mut known = batch.definitions.iter();
            if !known.any(|known| known.fingerprint == definition.fingerprint) {
                batch.definitions.push(definition);
            }
        }
        batch.writes.push(ready.write);
        stored.push(ready.stored);
    }
    stored
}

/// Sets the commit of the items at these positions; returns those that they had.
fn mark_tried(items: &mut [Item<'_>], positions: &[usize], commit_id: i64) -> Vec<Option<i64>> {
    let mut before = Vec::with_capacity(positions.len());
    for position in positions {
        let journal = items[*position].journal();
        before.push(journal.stored().commit_id);
        journal.set_commit_id(Some(commit_id));
    }
    before
}

fn no_machine_twice(prepared: &[Prepared]) -> Result<(), EffectError> {
    if prepared.len() < 2 {
        return Ok(());
    }
    let mut seen = HashSet::with_capacity(prepared.len());
    for ready in prepared {
        let id = ready.write.row.id;
        if !seen.insert(id) {
            return Err(EffectError::Twice { id });
        }
    }
    Ok(())
}

/// Warns of the children that the move of a handler asks to cancel, with the messages that its
/// batch sent.
fn warn_of_cancelled(left: &Left, sent: &[(Id, EventOutcome)]) {
    let children = sent.iter().filter(|(to, _)| *to != left.machine).count() as u64;
    if children > 0 {
        let (kind, id, trigger) = (left.definition, display(left.machine), &left.trigger);
        telemetry::VisitCancelled { kind, id, trigger, children, option: "detach" }.emit();
    }
}
