//! Old names: each maps to one current name.

use std::collections::{BTreeMap, BTreeSet};

use heck::ToSnakeCase;
use syn::LitStr;

use crate::{errors::Errors, message, model::Graph, text::bare};

/// No old name is also a current one, nor the old name of two.
pub(super) fn was_is_unique(graph: &Graph<'_>, errors: &mut Errors) {
    let mut names = Names { errors, seen: BTreeSet::new() };
    let states = graph.states.iter().map(|state| (bare(state.name()), &*state.written.was));
    names.unique("state", &states.collect::<Vec<_>>(), str::to_snake_case);
    for state in &graph.states {
        let fields = state.written.fields.iter().map(|field| (bare(&field.name), &*field.was));
        names.unique("field", &fields.collect::<Vec<_>>(), str::to_owned);
    }
    let triggers = graph
        .triggers
        .iter()
        .enumerate()
        .map(|(index, trigger)| (bare(trigger.name), graph.was_of(index)));
    names.unique("trigger", &triggers.collect::<Vec<_>>(), str::to_owned);
    for trigger in &graph.triggers {
        let items = trigger.brought.iter().map(|item| (bare(item.name), item.was));
        names.unique("payload item", &items.collect::<Vec<_>>(), str::to_owned);
    }
}

struct Names<'a> {
    errors: &'a mut Errors,
    /// An item of a payload has the old names of its field, which were checked with the field.
    seen: BTreeSet<*const LitStr>,
}

impl Names<'_> {
    /// `stored` makes the name in stored data from a name as it is written.
    fn unique(&mut self, what: &str, names: &[(String, &[LitStr])], stored: fn(&str) -> String) {
        let mut taken: BTreeMap<String, &str> = BTreeMap::new();
        for (name, was) in names {
            for old in *was {
                let (written, value) = (old.value(), stored(&old.value()));
                let is_new = self.seen.insert(old);
                if is_new
                    && let Some((current, _)) = names.iter().find(|(name, _)| stored(name) == value)
                {
                    let text = format!("there is still a {what} `{current}`");
                    self.errors.on(old, message::was_is_taken(&written, &text));
                } else if is_new && let Some(other) = taken.get(&value) {
                    let text = format!("`{other}` has the same old name");
                    self.errors.on(old, message::was_is_taken(&written, &text));
                }
                taken.insert(value, name);
            }
        }
    }
}
