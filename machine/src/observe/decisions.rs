//! The decisions of people about the calls of a machine.

use super::Observer;
use crate::{
    contract::execution,
    id::Id,
    store::{LoadError, read::history::HistoryPart},
    view::CallDecision,
};

/// The maximum number of calls whose histories are read.
const MAX_CALLS: usize = 50;

impl Observer {
    /// The decisions about the calls of a machine that were made during a part of its history, oldest first. Of many
    /// calls, only the newest are read.
    pub(super) async fn decisions(
        &self,
        id: Id,
        part: &HistoryPart,
    ) -> Result<Vec<CallDecision>, LoadError> {
        let children = LoadError::readable(self.store.children(id).await)?.unwrap_or_default();
        let calls = children.iter().filter(|child| child.machine == *execution::DEFINITION.name);
        let ids = calls.rev().take(MAX_CALLS).map(|call| call.id).collect();
        let mut found = Vec::new();
        for call in self.store.executions(ids).await? {
            // One that cannot be read needs attention itself.
            let Some(call) = LoadError::readable(call)? else { continue };
            let summary = call.context().summary_in(self.language);
            for journal in call.context().behind().into_iter().chain([call.id()]) {
                if let Some(history) = LoadError::readable(self.store.history(journal).await)? {
                    found.extend(CallDecision::of(&history, call.id(), &summary));
                }
            }
        }
        let entries = &part.history.entries;
        let after = entries.iter().rfind(|entry| entry.number < part.from).map(|entry| entry.at);
        let newest = entries.last().filter(|entry| entry.number + 1 < part.total);
        let until = newest.map(|entry| entry.at);
        found.retain(|decision| {
            after.is_none_or(|after| decision.at > after)
                && until.is_none_or(|until| decision.at <= until)
        });
        found.sort_by_key(|decision| decision.at);
        Ok(found)
    }
}
