//! The machines of a store that need attention.

use std::collections::BTreeSet;

use super::{
    Attention, Concern, ConcernReason, NextStep, Observer, calls::CallsOf,
    concern_list::ConcernList, possible::next_of_machine,
};
use crate::view::{Audience, Label, Snapshot, View, audience::due};
use crate::{
    contract::{AnyExecution, Progress, execution},
    definition::Definition,
    id::Id,
    store::{LoadError, Query},
};

/// The number of machines that are read at once for one reason.
const PAGE: usize = 256;

impl Observer {
    /// The machines that a query selects and that need attention, most urgent first. At most as
    /// many as the query's limit that wait for a person, and as many that are overdue, are stuck,
    /// or have many messages, are named; whatever is contradicted and not acknowledged, in doubt,
    /// set aside or failing always is. So is what cannot be read, because it may match the query.
    /// There are no pages: the place and the order of the query are ignored.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now. A machine that cannot be read
    /// is reported as a concern.
    pub async fn attention<A: Audience>(
        &self,
        query: &Query,
    ) -> Result<View<Attention<A>>, LoadError> {
        let mut found = ConcernList::default();
        let query = query.clone().without_place();
        self.executions_in_doubt(&mut found, &query).await?;
        let failing = self.store.failing().await?;
        let (aside, failing) = failing.into_iter().partition(|failing| failing.set_aside);
        self.in_trouble(ConcernReason::SetAside, &mut found, &query, aside).await?;
        self.not_moving(ConcernReason::NoWorker, &mut found, &query).await?;
        self.not_moving(ConcernReason::Stuck, &mut found, &query).await?;
        // Any of them might match the query.
        for (id, error) in self.store.broken_rows().await? {
            found.add(Concern::unreadable(id, &error));
        }
        self.overdue(&mut found, &query).await?;
        self.in_trouble(ConcernReason::Failing, &mut found, &query, failing).await?;
        self.not_moving(ConcernReason::ManyMessages, &mut found, &query).await?;
        self.waiting(&mut found, &query).await?;
        found.concerns.sort_by_key(|concern| (concern.reason, concern.since, concern.id));
        let ConcernList { concerns, truncated, .. } = found;
        Ok(View::new(Attention { concerns, truncated }))
    }

    /// Contradicted, in doubt, and calls that have run longer than they may.
    async fn executions_in_doubt<A: Audience>(
        &self,
        found: &mut ConcernList<A>,
        query: &Query,
    ) -> Result<(), LoadError> {
        let now = self.store.now();
        let suspects = self.store.suspects().await?;
        let ids = self.store.selected(query, suspects.keys().copied().collect()).await?;
        for ids in ids.chunks(PAGE) {
            let executions = self.store.executions(ids.to_vec()).await?;
            for (id, execution) in ids.iter().zip(executions) {
                let Some(execution) = found.readable(Some(*id), execution)? else { continue };
                let is_seen = || Progress::of(&execution).acknowledged_by.is_some();
                let (reason, ends_at) = match (Label::of(&execution), suspects[id]) {
                    (Label::Contradicted, _) if !is_seen() => (ConcernReason::Contradicted, None),
                    (Label::InDoubt, _) => (ConcernReason::InDoubt, None),
                    (Label::InProgress | Label::Waiting, Some(at)) if at < now => {
                        (ConcernReason::Overdue, Some(at))
                    }
                    _ => continue,
                };
                let mut concern = self.concern_of_execution(reason, &execution).await?;
                if let Some(at) = ends_at {
                    concern.since = Some(due::<A>(at, concern.since.unwrap_or(at)));
                    let cause = match execution {
                        AnyExecution::Waiting(_) => "its service has not reported in time",
                        _ => "its call has exceeded its time limit",
                    };
                    concern.cause = Some(cause.to_owned());
                }
                found.add(concern);
            }
        }
        Ok(())
    }

    async fn overdue<A: Audience>(
        &self,
        found: &mut ConcernList<A>,
        query: &Query,
    ) -> Result<(), LoadError> {
        let page = self.store.list(&query.clone().due()).await?;
        found.truncated |= page.next.is_some();
        for line in page.items {
            let Some(line) = found.readable(None, line)? else { continue };
            let concern = self.concern(ConcernReason::Overdue, line.id, found).await?;
            if let Some(mut concern) = concern {
                let entered_at = concern.since;
                concern.since = line.due_at.map(|at| due::<A>(at, entered_at.unwrap_or(at)));
                // That of a gate is its standing; of an own machine, what its deadline waits for.
                let is_own = concern.machine.as_deref() != Some(&*execution::DEFINITION.name);
                let late = concern.cause.filter(|_| is_own);
                let passed = || "a deadline has passed".to_owned();
                concern.cause = Some(late.unwrap_or_else(passed));
                found.add(concern);
            }
        }
        Ok(())
    }

    /// Machines whose state is a question to a person; and executions that ask one.
    async fn waiting<A: Audience>(
        &self,
        found: &mut ConcernList<A>,
        query: &Query,
    ) -> Result<(), LoadError> {
        // A broken definition does not tell which of its machines wait for a person.
        for reason in self.store.broken_definitions().await? {
            found.add(Concern::unreadable(None, &reason));
        }
        let mut states: BTreeSet<(String, String)> = BTreeSet::new();
        for definition in self.store.definitions().await? {
            for (index, state) in definition.states.iter().enumerate() {
                if waits_for_person(&definition, index) {
                    states.insert((definition.name.to_string(), state.name.to_string()));
                }
            }
        }
        let mut left = query.page_limit();
        for (machine, status) in states {
            let Some(query) = query.clone().in_state(machine, status) else { continue };
            let mut next = Some(query.live().limit(PAGE));
            while let Some(query) = next {
                let page = self.store.list(&query).await?;
                for line in page.items {
                    let Some(line) = found.readable(None, line)? else { continue };
                    if found.seen.contains(&line.id) {
                        continue;
                    }
                    if left == 0 {
                        found.truncated = true;
                        return Ok(());
                    }
                    let concern =
                        self.concern(ConcernReason::WaitsForPerson, line.id, found).await?;
                    if let Some(concern) = concern {
                        left -= 1;
                        found.add(concern);
                    }
                }
                next = page.next.map(|next| query.after(next));
            }
        }
        Ok(())
    }

    /// A machine of any kind; `None` if it was pruned, if it has moved on since the query, so that
    /// the reason is gone, or if it cannot be read, which is reported as a separate concern.
    pub(super) async fn concern<A: Audience>(
        &self,
        reason: ConcernReason,
        id: Id,
        found: &mut ConcernList<A>,
    ) -> Result<Option<Concern<A>>, LoadError> {
        let observed = self.store.observed_one(id).await;
        let Some(observed) = found.readable(Some(id), observed)? else { return Ok(None) };
        let is_gone = match reason {
            ConcernReason::WaitsForPerson => {
                !waits_for_person(&observed.definition, observed.state)
            }
            ConcernReason::Overdue => {
                observed.summary.due_at().is_none_or(|due_at| due_at > self.store.now())
            }
            _ => observed.has_ended(),
        };
        if is_gone {
            return Ok(None);
        }
        if observed.definition.name == execution::DEFINITION.name {
            // Reuses the row that was read.
            let execution = self.store.execution_of(observed).await;
            let Some(execution) = found.readable(Some(id), execution)? else { return Ok(None) };
            if reason == ConcernReason::WaitsForPerson && Progress::of(&execution).awaits_report() {
                return Ok(None);
            }
            return self.concern_of_execution(reason, &execution).await.map(Some);
        }
        let (calls, cause) = match reason {
            ConcernReason::Overdue => {
                let (children, inbox) =
                    (self.store.children(id).await?, self.store.inbox(id).await?);
                let calls = self.machine_calls(&observed, &children, &inbox).await?;
                let cause = calls.late_deadline(&observed, self.store.now());
                (calls.state, cause)
            }
            _ => (self.state_calls(&[CallsOf::observed(&observed)]).await?.remove(&id), None),
        };
        let snapshot = Snapshot::<A>::of_subject(&observed.subject(&self.own), self.store.now());
        let answered_with = self.answered_with(&observed).await?;
        let next = match answered_with {
            Some(_) => vec![NextStep::Show { id }],
            None => next_of_machine(&observed, &snapshot),
        };
        let shown = calls.as_ref().map_or(&snapshot.label, |calls| &calls.label).clone();
        let summary = format!("{} {shown} {}", snapshot.machine, snapshot.data());
        Ok(Some(Concern {
            machine: Some(snapshot.machine),
            status: Some(snapshot.status),
            label: Some(snapshot.label),
            calls,
            session: snapshot.session,
            answered_with,
            cause,
            since: Some(snapshot.entered_at),
            transition_count: Some(snapshot.transition_count),
            next,
            ..Concern::new(reason, Some(id), summary.trim_end().to_owned())
        }))
    }
}

/// Checks for a state in which a machine waits for a person: a question with a move whose `by`
/// names people; and an execution that asks a person.
fn waits_for_person(definition: &Definition, state: usize) -> bool {
    let is_execution = definition.name == execution::DEFINITION.name;
    let mut leaving = definition.leaving(state);
    definition.is_question(state)
        && (is_execution || leaving.any(|edge| definition.is_for_person(edge)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
