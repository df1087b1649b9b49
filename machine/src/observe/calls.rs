//! The calls that machines made by entering their states, and what waits for them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Observer;
use crate::{
    actor::{Actor, Call},
    clock::Millis,
    contract::{AnyExecution, CallStage, Progress},
    definition::{Edge, StateDef},
    effects::leave::WaitsFor,
    id::Id,
    store::{
        Child, Delivery, LoadError, Received,
        backend::{Attempts, CallRow},
        inbox::outcome::OutcomePlace,
        read::observe::Observed,
        write::attempt::{CONTRACTS, KeyState, key_state},
    },
    stored::{CallState, Hold, Newest},
    view::{CallView, StateCalls},
};

const MAX_DETAILED: usize = 50;

#[derive(Debug, Default)]
pub(super) struct MachineCalls {
    pub(super) state: Option<StateCalls>,
    pub(super) list: Vec<CallView>,
}

/// The state of a machine, and the number of the entry that came into it.
pub(super) struct CallsOf<'a> {
    id: Id,
    state: &'a StateDef,
    entered: u64,
}

impl<'a> CallsOf<'a> {
    pub(super) fn observed(machine: &'a Observed) -> Self {
        let state = &machine.definition.states[machine.state];
        Self { id: machine.row.id, state, entered: machine.summary.entered }
    }

    pub(super) fn newest(id: Id, newest: &'a Newest) -> Self {
        let state = &newest.definition.states[newest.state];
        Self { id, state, entered: newest.entered }
    }

    /// `since` of the calls, if the state makes any.
    fn since(&self) -> Option<u64> {
        self.state.invocation.as_ref().map(|_| self.entered + 1)
    }
}

impl Observer {
    /// What the calls do that these machines made by entering their states: one read for all of
    /// them.
    pub(super) async fn state_calls(
        &self,
        machines: &[CallsOf<'_>],
    ) -> Result<BTreeMap<Id, StateCalls>, LoadError> {
        let entries: Vec<_> =
            machines.iter().filter_map(|machine| Some((machine.id, machine.since()?))).collect();
        if entries.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut stages: BTreeMap<Id, Vec<CallStage>> = BTreeMap::new();
        // Those that cannot be read are reported by `detail` and `verify`.
        for line in self.store.inner.backend.call_lines(entries).await?.into_iter().flatten() {
            let stage = match &line.live {
                Some(state) => CallStage::of(state),
                None if line.is_taken => Some(CallStage::Taken),
                None => Some(CallStage::Ended),
            };
            stages.entry(line.parent).or_default().extend(stage);
        }
        let found = machines.iter().filter_map(|machine| {
            let CallsOf { id, state, .. } = machine;
            let stages = stages.remove(id).unwrap_or_default();
            let invocation = state.invocation.as_ref()?;
            Some((*id, StateCalls::of(&state.label, invocation, stages)))
        });
        Ok(found.collect())
    }

    /// What the calls of one machine do, each.
    pub(super) async fn machine_calls(
        &self,
        machine: &Observed,
        children: &[Child],
        inbox: &[Result<Received, LoadError>],
    ) -> Result<MachineCalls, LoadError> {
        let id = machine.row.id;
        let of_state = CallsOf::observed(machine);
        let since = of_state.since();
        let queued = inbox.iter().flatten().filter(|it| it.status == Delivery::Queued);
        let queued: BTreeSet<Id> = queued.filter_map(Received::call).collect();
        let is_open = |it: &&Child| !it.has_ended || queued.contains(&it.id);
        let calls = children.iter().filter(|it| it.position.is_some());
        let left: BTreeSet<u64> = calls.filter(is_open).map(|it| it.since).collect();
        let mut rows: Vec<(bool, CallRow)> = Vec::new();
        for entry in left.into_iter().chain(since).collect::<BTreeSet<_>>() {
            let is_current = Some(entry) == since;
            let of_entry = self.store.inner.backend.calls(id, entry).await?;
            let of_entry = of_entry.into_iter().collect::<Result<Vec<_>, _>>()?;
            let kept = of_entry.into_iter().filter(|row| is_current || is_kept(row));
            rows.extend(kept.map(|row| (is_current, row)));
        }
        if rows.is_empty() && since.is_none() {
            return Ok(MachineCalls::default());
        }
        // Those that others wait for are shown in any case.
        rows.sort_by_key(|(is_current, row)| (!is_waited_for(row), !is_current, row.position));
        rows.truncate(MAX_DETAILED);
        let ids = rows.iter().map(|(_, row)| row.id).collect();
        let executions = self.store.executions(ids).await?;
        let mut list = Vec::new();
        for ((is_current, row), execution) in rows.into_iter().zip(executions) {
            let entered_at = is_current.then_some(machine.summary.entered_at);
            // One that cannot be read needs attention itself, and is counted.
            if let Some(execution) = LoadError::readable(execution)? {
                list.push(self.call_view((entered_at, &row), execution).await?);
            }
        }
        let state = self.state_calls(&[of_state]).await?.remove(&id);
        if let Some(since) = since {
            let name = state.as_ref().map(|state| &*state.name).unwrap_or_default();
            add_outcomes(&mut list, (since - 1, name), inbox);
        }
        list.sort_by_key(|call| (!call.is_current, call.position));
        Ok(MachineCalls { state, list })
    }

    async fn call_view(
        &self,
        (entered_at, row): (Option<Millis>, &CallRow),
        execution: AnyExecution,
    ) -> Result<CallView, LoadError> {
        let contract = execution.context();
        let origin = contract.invoked();
        let stage = match row.outcome {
            _ if row.ended_at.is_none() => CallStage::of(&call_state(&execution)),
            Some(Delivery::Handled) => Some(CallStage::Taken),
            _ => None,
        };
        let (gate, open) = self.deferred_by(&execution).await?;
        let mut behind = None;
        if let (Some(CallStage::Pending), Some(key)) = (stage, contract.idempotency_key()) {
            let which = Attempts::OfKey(key.to_string());
            let attempts = self.store.inner.backend.attempts(which).await?;
            let attempts: Vec<_> = attempts.into_iter().flatten().collect();
            if let KeyState::Held { by } = key_state(&attempts, CONTRACTS, row.id) {
                behind = Some(by);
            }
        }
        let within = origin.and_then(|it| Millis::try_from(it.within_ms?).ok());
        Ok(CallView {
            name: origin.map(|it| it.invocation.clone()).unwrap_or_default(),
            position: row.position,
            execution: Some(row.id),
            stage: stage.unwrap_or(CallStage::Ended),
            summary: contract.summary_in(self.language).into_owned(),
            since: Some(execution.journal().past().entered_at),
            is_current: entered_at.is_some(),
            is_waited_for: is_waited_for(row),
            gate,
            answer_by: open.and_then(|gate| gate.expires_at()),
            behind,
            wait_until: entered_at
                .zip(within)
                .filter(|_| row.ended_at.is_none())
                .map(|(at, within)| at.saturating_add(within)),
            is_overdue: false,
            error: None,
        })
    }
}

impl MachineCalls {
    /// The calls that a move of this edge waits for, in words.
    pub(super) fn in_the_way(&self, machine: &Observed, edge: &Edge) -> Option<String> {
        let waits = WaitsFor::of_edge(&machine.definition, edge)?;
        let calls = self
            .list
            .iter()
            .filter(|call| call.is_waited_for && (call.is_current || waits == WaitsFor::All));
        let words: BTreeSet<String> = calls.map(CallView::words).collect();
        let words: Vec<_> = words.into_iter().collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Why a deadline that has passed was not fired, in words.
    pub(super) fn late_deadline(&self, machine: &Observed, now: Millis) -> Option<String> {
        let mut due = machine
            .summary
            .deadlines
            .iter()
            .filter(|due| !due.paused && due.due_at.is_some_and(|at| at <= now));
        let calls = due.find_map(|due| {
            let mut edges = machine.definition.leaving(machine.state);
            let edge = edges.find(|edge| edge.deadline.is_some() && edge.trigger == due.trigger)?;
            self.in_the_way(machine, edge)
        });
        calls.map(|calls| format!("a deadline has passed, and waits for {calls}"))
    }

    /// Why a message stays in the inbox, in words.
    pub(super) fn message_waits(&self, machine: &Observed, message: &Received) -> Option<String> {
        if message.status != Delivery::Queued {
            return None;
        }
        if let Some(call) = message.call() {
            let left = self.list.iter().find(|it| it.execution == Some(call) && !it.is_current)?;
            return Some(format!(
                "`{}` took effect after its state was left, and its receipt is kept until the state is entered again",
                left.name
            ));
        }
        let body: Value = serde_json::from_str(&message.body).ok()?;
        let trigger = body["trigger"].as_str()?;
        let mut edges = machine.definition.leaving(machine.state);
        let edge =
            edges.find(|edge| edge.is_called(trigger) && edge.is_for_kind(&message.actor))?;
        let calls = self.in_the_way(machine, edge)?;
        Some(format!("it waits for {calls}"))
    }
}

/// Adds the outcomes of calls that were not made, and marks those that the machine no longer waits
/// for.
fn add_outcomes(
    list: &mut Vec<CallView>,
    (entered, name): (u64, &str),
    inbox: &[Result<Received, LoadError>],
) {
    let of_calls = inbox.iter().flatten().filter(|message| message.actor == Call::KIND);
    for message in of_calls {
        match OutcomePlace::of(&message.correlation) {
            Some(OutcomePlace::Overdue { entry, position }) if entry == entered => {
                let mut calls = list.iter_mut();
                let call = calls.find(|call| call.is_current && call.position == position);
                if let Some(call) = call {
                    call.is_overdue = true;
                }
            }
            Some(OutcomePlace::Entry { entry, position: Some(position) }) if entry == entered => {
                let is_taken = message.status == Delivery::Handled;
                list.push(CallView {
                    name: name.to_owned(),
                    position,
                    execution: None,
                    stage: if is_taken { CallStage::Taken } else { CallStage::Ended },
                    summary: String::new(),
                    since: Some(message.sent_at),
                    is_current: true,
                    is_waited_for: false,
                    gate: None,
                    answer_by: None,
                    behind: None,
                    wait_until: None,
                    is_overdue: false,
                    error: Some(error_code(&message.body)),
                });
            }
            _ => {}
        }
    }
}

/// A move that leaves a call waits for it while it may have taken effect and the machine does not
/// know.
fn is_waited_for(row: &CallRow) -> bool {
    matches!(row.hold, Hold::Held | Hold::Applied) && !row.is_taken()
}

/// A call of an earlier entry that the machine may still have to take.
fn is_kept(row: &CallRow) -> bool {
    row.ended_at.is_none() || is_waited_for(row)
}

fn call_state(execution: &AnyExecution) -> CallState {
    let gate = execution.journal().stored().gate.clone();
    CallState {
        status: execution.status().as_str().to_owned(),
        gate: execution.context().behind().map(|_| gate.unwrap_or_default()),
        in_doubt: Progress::of(execution).is_in_doubt(),
    }
}

/// The name of the error in an outcome, such as `already_done`. Its text may repeat data.
fn error_code(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    match &body["error"] {
        Value::String(name) => name.clone(),
        Value::Object(error) => error.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}
