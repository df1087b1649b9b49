//! Names that a program cannot use, because the module of its machine has items or methods of them.

use std::collections::{BTreeMap, BTreeSet};

use syn::Ident;

use super::{Graph, State, Trigger, deduplicated};
use crate::{
    errors::Errors,
    message,
    parse::{self, Declaration, Shared},
    text::{bare, pascal},
};

const RESERVED: [&str; 8] =
    ["new", "state", "state_mut", "context", "id", "journal", "into_parts", "into_state"];

/// Further ones, most of them of the erased machine, where shared fields are methods, too.
const RESERVED_FIELDS: [&str; 10] = [
    "apply",
    "apply_mut",
    "available",
    "clone",
    "deadlines",
    "fire_deadline",
    "into",
    "status",
    "try_into",
    "why_not",
];

/// The items in every machine's module, besides those of its states.
const ITEMS: [&str; 3] = ["Event", "Status", "AnyState"];

/// Further ones of a durable machine.
const ITEMS_OF_DURABLE: [&str; 2] = ["Handle", "Driver"];

pub(crate) fn is_reserved(declaration: &Declaration, trigger: &Ident) -> bool {
    let name = bare(trigger);
    let has_deadlines = || declaration.all_transitions().any(|it| it.after.is_some());
    RESERVED.contains(&name.as_str()) || name == "deadlines" && has_deadlines()
}

impl Graph<'_> {
    /// True if a state or a group has the name of an item for handlers, which was reported.
    pub(crate) fn has_the_name_of_a_handler(&self) -> bool {
        let declared = self.declaration.states.iter();
        let mut names = declared.flat_map(|state| state.groups.iter().chain([&state.name]));
        names.any(is_name_of_a_handler)
    }

    /// True if a shared field of that name would be a second method of it.
    pub(crate) fn is_method(&self, field: &Ident) -> bool {
        let mut transitions = self.declaration.all_transitions();
        RESERVED_FIELDS.contains(&bare(field).as_str())
            || is_reserved(self.declaration, field)
            || transitions.any(|transition| transition.trigger == *field)
    }
}

/// True for the names of the items for handlers, which only durable machines have.
pub(super) fn is_name_of_a_handler(name: &Ident) -> bool {
    ITEMS_OF_DURABLE.contains(&bare(name).as_str())
}

/// True if every machine's module has an item of that name.
pub(crate) fn is_reserved_state(declaration: &Declaration, state: &Ident) -> bool {
    let name = bare(state);
    let machine = bare(&declaration.name);
    ITEMS.contains(&name.as_str())
        || declaration.options.durable.is_some() && is_name_of_a_handler(state)
        || name == machine
        || name == format!("Any{machine}")
}

/// Reports names of the machine, its states, groups, events and shared fields that are taken.
pub(super) fn check(graph: &Graph<'_>, errors: &mut Errors) {
    derived_names_differ(graph, errors);
    traits_are_free(graph, errors);
    groups_are_known(graph.declaration, errors);
    shared_fields_are_free(graph, errors);
}

/// States are stored, and events are called, by names that are derived from those written.
fn derived_names_differ(graph: &Graph<'_>, errors: &mut Errors) {
    let mut stored: BTreeMap<&str, &Ident> = BTreeMap::new();
    for state in &graph.states {
        let one = *stored.entry(&state.stored).or_insert(state.name());
        // A repeated name was reported as such.
        if one != state.name() {
            let text = message::same_derived_name(one, state.name(), &state.stored);
            errors.on(state.name(), text);
        }
    }
    let mut variants: BTreeMap<String, &Ident> = BTreeMap::new();
    for Trigger { name, .. } in &graph.triggers {
        let variant = pascal(name);
        if let Some(one) = variants.insert(variant.clone(), name) {
            errors.on(name, message::same_derived_name(one, name, &variant));
        }
    }
}

/// The names of the machine's other traits differ from those of its states and groups.
fn traits_are_free(graph: &Graph<'_>, errors: &mut Errors) {
    let groups = graph.groups();
    let may = graph.triggers.iter().enumerate().filter(|(index, _)| graph.is_restricted(*index));
    let may = may.map(|(_, trigger)| format!("May{}", pascal(trigger.name)));
    let seals = groups.iter().map(|(group, _)| format!("{}Seal", bare(group)));
    let choices = graph.triggers.iter().filter(|trigger| trigger.choice.is_some());
    let choices = choices.map(|trigger| format!("After{}", pascal(trigger.name)));
    let fields = graph.declaration.shared.iter().map(Shared::trait_name);
    let traits: BTreeSet<String> = may.chain(seals).chain(choices).chain(fields).collect();
    let same = graph.triggers.iter().any(Trigger::may_stay);
    let taken = |state: &&State<'_>| {
        let name = bare(state.name());
        traits.contains(&name) || same && name == "Same"
    };
    for state in graph.states.iter().filter(taken) {
        errors.on(state.name(), message::reserved_state(state.name()));
    }
    for (group, _) in groups.iter().filter(|(group, _)| traits.contains(&bare(group))) {
        errors.on(group, message::reserved_group(group));
    }
}

fn shared_fields_are_free(graph: &Graph<'_>, errors: &mut Errors) {
    let mut traits: BTreeMap<String, &Ident> = BTreeMap::new();
    for shared in &graph.declaration.shared {
        let name = &shared.field.name;
        if let Some(one) = traits.insert(shared.trait_name(), name) {
            errors.on(name, message::same_derived_name(one, name, &shared.trait_name()));
        }
        if graph.trigger_index.contains_key(&bare(name)) {
            errors.on(name, message::field_is_a_trigger(name));
        } else if graph.is_method(name) {
            errors.on(name, message::reserved_field(name));
        }
    }
}

fn groups_are_known(declaration: &Declaration, errors: &mut Errors) {
    let is_state = |name: &Ident| declaration.states.iter().any(|state| state.name == *name);
    for group in deduplicated(declaration.states.iter().flat_map(|state| &state.groups)) {
        if is_state(group) {
            errors.on(group, message::group_is_a_state(group));
        } else if is_reserved_state(declaration, group) {
            errors.on(group, message::reserved_group(group));
        }
    }
    for (names, _) in &declaration.options.from_several {
        parse::are_known(names, &declaration.states, errors);
    }
}
