//! The members of invocations.

use serde_json::Value;

use super::{MachineRow, Tables};
use crate::{
    id::Id,
    store::{
        backend::{Attempts, CallLine, CallRow, Filter, Row},
        inbox::{message::Delivery, outcome::outcome_of},
        write::attempt::KeyAttempt,
    },
    stored::CallState,
};

impl Tables {
    pub(super) fn calls(&self, parent: Id, since: u64) -> Vec<CallRow> {
        let mut calls = self.calls_of(parent);
        calls.retain(|call| call.since == since);
        calls.sort_by_key(|call| call.position);
        calls
    }

    pub(super) fn call_lines(&self, entries: &[(Id, u64)]) -> Vec<CallLine> {
        let lines = entries.iter().flat_map(|&(parent, since)| {
            self.calls(parent, since).into_iter().map(move |call| CallLine {
                parent,
                live: self.live_call(call.id),
                is_taken: call.is_taken(),
            })
        });
        lines.collect()
    }

    /// Checks whether a machine has the calls that a filter asks for.
    pub(super) fn has_calls(&self, row: &Row, filter: &Filter) -> bool {
        let Some(wanted) = &filter.calls else { return true };
        self.calls(row.id, entered(row) + 1)
            .iter()
            .filter_map(|call| self.live_call(call.id))
            .any(|state| wanted.contains(&state))
    }

    /// The state of a call that has not ended.
    fn live_call(&self, id: Id) -> Option<CallState> {
        let row = &self.find(id).filter(|it| !it.row.ended)?.row;
        let gate = |gate| self.find(gate).map(|it| it.row.status.clone()).unwrap_or_default();
        let (name, verdict) = CallState::IN_DOUBT;
        Some(CallState {
            status: row.status.clone(),
            gate: row.behind.map(gate),
            in_doubt: member(&row.summary, &format!("/context/{name}")) == verdict,
        })
    }

    pub(super) fn same_call(&self, parent: Id, key: &str) -> Vec<CallRow> {
        let mut calls = self.calls_of(parent);
        let has_key = |id| self.find(id).is_some_and(|it| it.row.key.as_deref() == Some(key));
        calls.retain(|call| has_key(call.id));
        calls
    }

    /// All calls of a machine, in the order in which they were created.
    pub(in crate::store) fn calls_of(&self, parent: Id) -> Vec<CallRow> {
        self.machines.iter().filter_map(|stored| self.call(stored, parent)).collect()
    }

    fn call(&self, stored: &MachineRow, parent: Id) -> Option<CallRow> {
        let id = stored.row.id;
        let kinship = self.works.parents.get(&id).filter(|it| it.parent == parent)?;
        let newest = self.newest_attempt(id);
        Some(CallRow {
            id,
            since: kinship.since,
            position: kinship.position?,
            status: stored.row.status.clone(),
            ended_at: CallRow::ended_at(stored.row.ended, &stored.row.summary),
            hold: newest.as_ref().map(|attempt| attempt.hold).unwrap_or_default(),
            action: newest.and_then(|attempt| attempt.action),
            outcome: self.outcome(parent, id),
        })
    }

    pub(super) fn newest_attempt(&self, id: Id) -> Option<KeyAttempt> {
        self.attempts(&Attempts::OfMachine(id)).pop()
    }

    /// Where the outcome of a call is on its way.
    pub(super) fn outcome(&self, parent: Id, call: Id) -> Option<Delivery> {
        let inbox = self.works.states.get(&parent)?;
        inbox.messages.get(&outcome_of(call)).map(|message| message.status)
    }
}

/// The number of the entry that came into the state of a machine.
pub(super) fn entered(row: &Row) -> u64 {
    member(&row.summary, "/entered").as_u64().unwrap_or_default()
}

fn member(summary: &str, path: &str) -> Value {
    let summary = serde_json::from_str::<Value>(summary).unwrap_or_default();
    summary.pointer(path).cloned().unwrap_or_default()
}
