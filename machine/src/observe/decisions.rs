//! The decisions of people about the calls of a machine.

use super::Observer;
use crate::{
    actor::{Actor, Call},
    clock::Millis,
    contract::execution,
    id::Id,
    store::{LoadError, read::history::HistoryPart},
    view::CallDecision,
};

const MAX_CALLS: usize = 50;

impl Observer {
    /// The decisions about the calls of a machine that were made during a part of its history, in
    /// order. Of many calls, only the newest are read.
    pub(super) async fn decisions(
        &self,
        id: Id,
        part: &HistoryPart,
    ) -> Result<Vec<CallDecision>, LoadError> {
        let entries = &part.history.entries;
        let Some(newest) = entries.last() else { return Ok(Vec::new()) };
        let end = newest.number + 1;
        let children = LoadError::readable(self.store.children(id).await)?.unwrap_or_default();
        let calls = children.iter().filter(|child| child.machine == *execution::DEFINITION.name);
        let calls: Vec<_> = calls.rev().take(MAX_CALLS).collect();
        let executions = self.store.executions(calls.iter().map(|call| call.id).collect()).await?;
        let mut found = Vec::new();
        for (child, call) in calls.into_iter().zip(executions) {
            // One that cannot be read needs attention itself.
            let Some(call) = LoadError::readable(call)? else { continue };
            let summary = call.context().summary_in(self.language);
            let name = call.id().to_string();
            let mut brought = entries.iter().filter(|it| it.actor.as_deref() == Some(Call::KIND));
            let taken = brought.find(|entry| entry.by.as_deref() == Some(&*name));
            let taken = taken.map_or(u64::MAX, |entry| entry.number);
            let mut latest = Millis::MIN;
            for journal in call.context().behind().into_iter().chain([call.id()]) {
                let history = self.store.history(journal).await;
                let Some(history) = LoadError::readable(history)? else { continue };
                let made_at = history.entries.first().map_or(Millis::MIN, |entry| entry.at);
                // A decision may lead to the entry of the same millisecond; nothing is decided
                // before the creation. Where the clock was set back, the entries that made the call
                // and took its outcome show the order.
                let before = |at: Millis| {
                    let later = entries.iter().find(|entry| entry.number > 0 && entry.at >= at);
                    let later = later.map_or(end, |entry| entry.number);
                    let later = if at <= made_at { later.max(child.since) } else { later };
                    later.min(taken)
                };
                let decisions = CallDecision::of(&history, call.id(), &summary, before);
                found.extend(decisions.map(|decision| {
                    latest = latest.max(decision.at);
                    (latest, decision)
                }));
            }
        }
        found.retain(|(_, decision)| {
            decision.before >= part.from && (decision.before < end || end == part.total)
        });
        found.sort_by_key(|(latest, decision)| (decision.before, *latest));
        Ok(found.into_iter().map(|(_, decision)| decision).collect())
    }
}
