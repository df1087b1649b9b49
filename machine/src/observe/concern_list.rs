use std::collections::BTreeSet;

use super::{Concern, ConcernReason, NextStep};
use crate::{
    id::Id,
    store::{LoadError, Unavailable},
};
use crate::{line::OneLine, view::Audience};

/// The concerns so far; each machine once, for its most urgent reason.
#[derive(Default)]
pub(super) struct ConcernList<A: Audience> {
    pub(super) seen: BTreeSet<Id>,
    pub(super) concerns: Vec<Concern<A>>,
    pub(super) truncated: bool,
}

impl<A: Audience> ConcernList<A> {
    pub(super) fn add(&mut self, concern: Concern<A>) {
        if concern.id.is_none_or(|id| self.seen.insert(id)) {
            self.concerns.push(concern);
        }
    }

    /// What was read; `None` if it was pruned, or cannot be read, which is a concern.
    pub(super) fn readable<T>(
        &mut self,
        id: Option<Id>,
        read: Result<T, LoadError>,
    ) -> Result<Option<T>, Unavailable> {
        match read {
            Ok(read) => return Ok(Some(read)),
            Err(LoadError::Unavailable(error)) => return Err(error),
            Err(LoadError::NotFound { .. }) => {}
            Err(error) => self.add(Concern::unreadable(id, &error.to_string())),
        }
        Ok(None)
    }
}

impl<A: Audience> Concern<A> {
    pub(super) fn new(reason: ConcernReason, id: Option<Id>, summary: String) -> Self {
        Self {
            reason,
            id,
            machine: None,
            status: None,
            label: None,
            calls: None,
            session: None,
            summary,
            question: None,
            answered_with: None,
            open_call: None,
            missing: None,
            trouble: None,
            cause: None,
            reference: A::__internal(|| None),
            error: A::__internal(|| None),
            since: None,
            transition_count: None,
            next: Vec::new(),
        }
    }

    pub(super) fn unreadable(id: Option<Id>, error: &str) -> Self {
        Self {
            error: A::__internal(|| Some(OneLine(error).to_string())),
            next: id.map(|id| NextStep::Show { id }).into_iter().collect(),
            ..Self::new(ConcernReason::Unreadable, id, "it cannot be read".to_owned())
        }
    }
}
