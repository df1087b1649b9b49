//! A machine as views see it, whether it is in memory or in a store.

use serde_json::Value;

use super::{Audience, Fields, marks::Marks};
use crate::{
    contract::{execution, hide_in_contract},
    definition::{Definition, StateDef},
    id::Id,
    journal::Summary,
    stored::{Durable, Unwritten},
};

pub(crate) struct Subject<'a> {
    pub(crate) id: Id,
    /// The definition that it was written under.
    pub(crate) definition: &'a Definition,
    /// The definitions whose marks count.
    pub(crate) marks: Marks<'a>,
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
    /// A machine in memory, including unstored entries.
    pub(crate) fn of(machine: &'a dyn Durable) -> serde_json::Result<Self> {
        let journal = machine.journal();
        let stored = &journal.stored().summary.context;
        let folded = machine.__rules().__fold(stored, journal.uncommitted());
        let definition = machine.definition();
        Ok(Self {
            id: journal.id(),
            definition,
            marks: Marks::of(definition),
            state: machine.state_index(),
            data: serde_json::from_str(&machine.__state_text().map_err(Unwritten::into_json)?)?,
            context: serde_json::from_str(
                &machine.__context_text().map_err(Unwritten::into_json)?,
            )?,
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
        let state = self.state();
        let mark = |name: &str| self.marks.of_field(state, name);
        Fields::of(self.data.clone(), mark).declared(&state.fields)
    }

    /// The context of an execution has the digests of its secrets.
    pub(super) fn context<A: Audience>(&self) -> Fields<A> {
        let mut context = self.context.clone();
        if self.definition.name == execution::DEFINITION.name {
            hide_in_contract(&mut context);
        }
        Fields::of(context, |name| self.marks.of_member(self.definition, name))
    }
}
