//! Comparison of the moves, their payloads, and the actors.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Changes, before};
use crate::definition::{Definition, Edge, Stays, Text};

impl Changes {
    pub(super) fn edges(
        &mut self,
        older: &Definition,
        newer: &Definition,
        successors: &[Option<usize>],
    ) {
        let text = |definition: &Definition, edge: &Edge| {
            let label = |state: usize| definition.states[state].label.clone();
            format!("{} -{}-> {}", label(edge.from), edge.trigger, label(edge.to))
        };
        let mut by_ends: BTreeMap<(usize, usize), Vec<(usize, &Edge)>> = BTreeMap::new();
        for (index, new) in newer.edges.iter().enumerate() {
            by_ends.entry((new.from, new.to)).or_default().push((index, new));
        }
        let counterpart = |old: &Edge| {
            let ends = (successors[old.from]?, successors[old.to]?);
            let mut between = by_ends.get(&ends)?.iter();
            let is_same = |new: &Edge| old.trigger == new.trigger || new.was.contains(&old.trigger);
            between.find(|(_, new)| is_same(new)).copied()
        };
        let mut known = BTreeSet::new();
        let mut compared = BTreeSet::new();
        for old in &*older.edges {
            let Some((index, new)) = counterpart(old) else {
                let text = text(older, old);
                self.allow(format!("move {text} was removed; it stays legal where it was made"));
                continue;
            };
            known.insert(index);
            let text = text(newer, new);
            if old.trigger != new.trigger {
                self.allow(format!("trigger `{}` was renamed to `{}`", old.trigger, new.trigger));
            }
            if old.stays != new.stays {
                let now = match new.stays {
                    Stays::Never => "enters its state again",
                    Stays::Always => "stays in its state",
                    Stays::ByBranch => "stays in its state in some branches",
                };
                self.allow(format!("move {text} now {now}"));
            }
            // The common parts of the edges of a choice are compared once.
            if !compared.insert((old.from, &old.trigger)) {
                continue;
            }
            if old.deadline.is_some() != new.deadline.is_some() {
                let now = if new.deadline.is_some() { "has a" } else { "no longer has a" };
                self.allow(format!("move {text} {now} deadline"));
            }
            self.payload(old, new, &text);
            let renamed = |kind: &Text| {
                let mut actors = newer.actors.iter();
                actors.find(|actor| actor.was.as_ref() == Some(kind)).map(|actor| &actor.kind)
            };
            let before: BTreeSet<&Text> =
                old.actors.iter().map(|kind| renamed(kind).unwrap_or(kind)).collect();
            if before != new.actors.iter().collect::<BTreeSet<_>>() {
                self.allow(format!("move {text} is for {}", actors(new)));
            }
        }
        for (index, new) in newer.edges.iter().enumerate() {
            if !known.contains(&index) {
                self.allow(format!("move {} was added", text(newer, new)));
            }
        }
    }

    /// Compares the payloads. Stored machines hold them in their journals only.
    fn payload(&mut self, old: &Edge, new: &Edge, text: &str) {
        for item in &*new.payload {
            let Some(before) = before(item, &old.payload) else {
                self.allow(format!("move {text} also takes `{}`", item.name));
                continue;
            };
            if before.name != item.name {
                self.allow(format!(
                    "item `{}` of move {text} was renamed to `{}`",
                    before.name, item.name
                ));
            }
            if before.ty != item.ty {
                self.allow(format!(
                    "item `{}` of move {text} changed from `{}` to `{}`",
                    item.name, before.ty, item.ty
                ));
            }
        }
        for item in &*old.payload {
            let mut kept = new.payload.iter().filter_map(|new| before(new, &old.payload));
            if !kept.any(|kept| kept.name == item.name) {
                self.allow(format!("move {text} no longer takes `{}`", item.name));
            }
        }
    }

    pub(super) fn actors(&mut self, older: &Definition, newer: &Definition) {
        for old in &*older.actors {
            let kept = newer.actors.iter().any(|actor| actor.kind == old.kind);
            let renamed = newer.actors.iter().find(|actor| actor.was.as_ref() == Some(&old.kind));
            match renamed {
                _ if kept => {}
                Some(actor) => {
                    self.allow(format!("actor `{}` was renamed to `{}`", old.kind, actor.kind));
                }
                None => self.allow(format!("actor `{}` was removed", old.kind)),
            }
        }
        for new in &*newer.actors {
            let known = |old: &Text| *old == new.kind || Some(old) == new.was.as_ref();
            if !older.actors.iter().any(|actor| known(&actor.kind)) {
                self.allow(format!("actor `{}` was added", new.kind));
            }
        }
    }
}

fn actors(edge: &Edge) -> String {
    if edge.actors.is_empty() {
        return "anyone".to_string();
    }
    let kinds: Vec<String> = edge.actors.iter().map(|kind| format!("`{kind}`")).collect();
    kinds.join(", ")
}
