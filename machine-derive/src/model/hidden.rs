//! Items of the machine's module that shadow types and traits of the same name: its states, its
//! groups, and what else is generated.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{PredicateType, Type, WherePredicate};

use super::Graph;
use crate::{
    errors::Errors,
    message,
    parse::{Declaration, ItemKind, Shared, Transition},
    text::{bare, pascal},
    tokens::walk,
};

/// The items in every machine's module, besides those of its states.
pub(super) const ITEMS: [&str; 3] = ["Event", "Status", "AnyState"];

/// Further ones of a durable machine.
pub(super) const ITEMS_OF_DURABLE: [&str; 2] = ["Handle", "Driver"];

/// Reports each name in the declaration that means another item in the module, where it is first
/// mentioned.
pub(super) fn check(graph: &Graph<'_>, errors: &mut Errors) {
    let (declaration, module) = (graph.declaration, graph.stored());
    let mentions = Mentions::of(declaration);
    for state in &declaration.states {
        if let Some((what, name)) = mentions.of_state(&bare(&state.name)) {
            errors.on(name, message::state_hides(what, &state.name, &module));
        }
    }
    for (group, _) in graph.groups() {
        if let Some((what, name)) = mentions.of_item(&bare(group)) {
            errors.on(name, message::group_hides(what, group));
        }
    }
    for item in generated(graph) {
        if let Some((what, name)) = mentions.of_item(&item) {
            errors.on(name, message::item_hides(what, &item, &module));
        }
    }
}

pub(super) fn hides_as_state(declaration: &Declaration, name: &str) -> bool {
    Mentions::of(declaration).of_state(name).is_some()
}

pub(crate) fn hides_a_trait(declaration: &Declaration, name: &str) -> bool {
    bounds(declaration).contains_key(name)
}

/// True if an item of this name that is not a state shadows something.
pub(crate) fn hides(declaration: &Declaration, name: &str) -> bool {
    Mentions::of(declaration).of_item(name).is_some()
}

/// The names of the generated items, except those of states and groups.
fn generated(graph: &Graph<'_>) -> BTreeSet<String> {
    let declaration = graph.declaration;
    let mut names = BTreeSet::from(ITEMS.map(str::to_owned));
    if declaration.options.durable.is_some() {
        names.extend(ITEMS_OF_DURABLE.map(str::to_owned));
    }
    names.extend(declaration.shared.iter().map(Shared::trait_name));
    for Transition { trigger, by, leads, .. } in declaration.transitions() {
        if !by.is_empty() || graph.takes_an_outcome(trigger) {
            names.insert(format!("May{}", pascal(trigger)));
        }
        if leads.is_choice() {
            names.insert(format!("After{}", pascal(trigger)));
        }
    }
    names
}

/// The names in a declaration without a path before them, each with its first mention.
#[derive(Default)]
struct Mentions {
    types: BTreeMap<String, Ident>,
    bounds: BTreeMap<String, Ident>,
    /// Of types that have a guard. A state may be meant.
    guards: BTreeMap<String, Ident>,
}

impl Mentions {
    fn of(declaration: &Declaration) -> Self {
        let mut found = Self { bounds: bounds(declaration), ..Self::default() };
        for ty in types(declaration) {
            collect(ty.to_token_stream(), &mut found.types);
        }
        for transition in declaration.transitions() {
            for actor in transition.actors() {
                collect(actor.to_token_stream(), &mut found.types);
            }
            let guard = transition.guard.as_ref().map(|guard| &guard.path);
            if let Some(path) = guard.filter(|path| path.segments.len() > 1) {
                collect(path.to_token_stream(), &mut found.guards);
            }
        }
        found
    }

    fn of_state(&self, name: &str) -> Option<(&'static str, &Ident)> {
        let of_types = self.types.get(name).map(|mention| ("type", mention));
        of_types.or_else(|| self.bounds.get(name).map(|mention| ("trait", mention)))
    }

    fn of_item(&self, name: &str) -> Option<(&'static str, &Ident)> {
        let of_guards = || self.guards.get(name).map(|mention| ("type", mention));
        self.of_state(name).or_else(of_guards)
    }
}

fn bounds(declaration: &Declaration) -> BTreeMap<String, Ident> {
    let (generics, mut found) = (&declaration.generics, BTreeMap::new());
    for param in generics.type_params() {
        collect(param.bounds.to_token_stream(), &mut found);
    }
    for required in required(declaration) {
        collect(required.bounds.to_token_stream(), &mut found);
    }
    found
}

fn required(declaration: &Declaration) -> impl Iterator<Item = &PredicateType> {
    let written = declaration.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    written.filter_map(|predicate| {
        let WherePredicate::Type(required) = predicate else { return None };
        Some(required)
    })
}

fn types(declaration: &Declaration) -> Vec<&Type> {
    let fields = declaration.states.iter().flat_map(|state| &state.fields);
    let mut types: Vec<&Type> = fields.map(|field| &field.ty).collect();
    types.extend(&declaration.options.context);
    types.extend(required(declaration).map(|required| &required.bounded_ty));
    let invoked = declaration.states.iter().filter_map(|state| state.invoke.as_ref());
    types.extend(invoked.filter_map(|invoke| invoke.tool.as_ref()));
    for transition in declaration.transitions() {
        types.extend(transition.guard.as_ref().map(|guard| &guard.error));
        types.extend(transition.payload.iter().filter_map(|item| match &item.kind {
            ItemKind::Noted(ty) => Some(ty),
            ItemKind::Field | ItemKind::Computed(_) => None,
        }));
    }
    types
}

/// Adds the names without a path before them that are new.
fn collect(tokens: TokenStream, found: &mut BTreeMap<String, Ident>) {
    walk(tokens, &mut |spot| {
        let in_path = spot.is(-1, ':') && spot.is(-2, ':');
        // `Iterator<Item = u8>` names no type `Item`.
        let is_other = in_path || spot.is(-1, '\'') || spot.is(1, '=');
        if let Some(name) = spot.ident().filter(|_| !is_other) {
            found.entry(bare(name)).or_insert_with(|| name.clone());
        }
    });
}
