//! A person who moves a machine on to another state ends the calls of the state that it leaves, as far as they
//! have not begun.

use crate::{
    actor::Category,
    contract::execution::{self},
    definition::Definition,
    id::Id,
    journal::Fact,
    stored::Durable,
};

/// A move of a person that a batch is about to write.
pub(crate) struct Left {
    pub(crate) machine: Id,
    pub(crate) name: Option<Box<str>>,
    pub(crate) reason: String,
    /// The version before the move, and whether an earlier try of the batch may have written it.
    pub(crate) version: u64,
    pub(crate) is_retried: bool,
}

impl Left {
    /// The last move of a person to another state, if there is one that is not written yet.
    pub(crate) fn of(machine: &dyn Durable) -> Option<Self> {
        let journal = machine.journal();
        // An execution has no calls; its own rules say what its gate does.
        if journal.stored().version == 0 || machine.definition().name == execution::DEFINITION.name
        {
            return None;
        }
        journal.uncommitted().iter().rev().find_map(|entry| match &entry.fact {
            Fact::Moved { from, to, trigger, .. }
                if from != to && is_person(machine.definition(), entry.actor.as_deref()) =>
            {
                let of = &machine.definition().name;
                Some(Self {
                    machine: journal.id(),
                    name: entry.by.clone(),
                    reason: format!(
                        "a person moved the {of} to `{to}` by `{trigger}` before the call began"
                    ),
                    version: journal.stored().version,
                    is_retried: journal.stored().commit_id.is_some(),
                })
            }
            _ => None,
        })
    }
}

/// Returns whether actors of this kind are people: [`Human`], and the program's own kinds of that category.
fn is_person(definition: &Definition, kind: Option<&str>) -> bool {
    let mut actors = definition.actors.iter();
    actors.any(|actor| Some(&*actor.kind) == kind && actor.category == Category::Human)
}
