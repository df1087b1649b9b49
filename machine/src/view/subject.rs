//! A machine as views see it, whether it is in memory or in a store.

use serde_json::Value;

use super::{Audience, Fields};
use crate::{
    definition::{self, Definition, Field, StateDef},
    id::Id,
    journal::Summary,
    stored::Durable,
};

pub(crate) struct Subject<'a> {
    pub(crate) id: Id,
    /// The definition that it was written under.
    pub(crate) definition: &'a Definition,
    /// The newest definition of its kind, whose marks count.
    pub(crate) newest: &'a Definition,
    /// The current state, as an index into `definition`.
    pub(crate) state: usize,
    pub(crate) data: Value,
    pub(crate) context: Value,
    pub(crate) summary: Summary,
    pub(crate) session: Option<String>,
    pub(crate) epoch: u64,
    /// The number of its journal entries.
    pub(crate) version: u64,
}

impl<'a> Subject<'a> {
    /// A machine in memory, with what is not stored yet.
    pub(crate) fn of(machine: &'a dyn Durable) -> serde_json::Result<Self> {
        let journal = machine.journal();
        let stored = &journal.stored().summary.context;
        let folded = machine.__rules().__fold(stored, journal.uncommitted());
        let definition = machine.definition();
        Ok(Self {
            id: journal.id(),
            definition,
            newest: definition,
            state: machine.state_index(),
            data: serde_json::from_str(&machine.__state_text()?)?,
            context: serde_json::from_str(&machine.__context_text()?)?,
            summary: journal.summary(),
            // A history that breaks a rule is refused at the commit.
            session: folded.ok().and_then(|folded| folded.after.session),
            epoch: journal.epoch(),
            version: journal.version() + journal.uncommitted().len() as u64,
        })
    }

    pub(super) fn state(&self) -> &'a StateDef {
        &self.definition.states[self.state]
    }

    pub(super) fn data<A: Audience>(&self) -> Fields<A> {
        let written = self.state();
        let newest = self.newest.state(&written.name).map(|state| &self.newest.states[state]);
        let fields = [newest.map(|state| &*state.fields), Some(&*written.fields)];
        Fields::of(self.data.clone(), |name| audience(fields, name))
    }

    pub(super) fn context<A: Audience>(&self) -> Fields<A> {
        Fields::of(self.context.clone(), |name| {
            let mut marks = self.newest.marks.iter();
            marks.find(|mark| mark.name == name).map(|mark| mark.audience).unwrap_or_default()
        })
    }
}

/// Who may see a field or an item: the newest definition that has it says so.
pub(super) fn audience(newest_first: [Option<&[Field]>; 2], name: &str) -> definition::Audience {
    let mut fields = newest_first.into_iter().flatten().flatten();
    fields.find(|field| field.name == name).map(|field| field.audience).unwrap_or_default()
}
