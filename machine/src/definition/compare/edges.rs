//! Comparison of the moves, their payloads, and the actors.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Differences, before, strands::Pair};
use crate::{
    actor::{Actor, Call},
    definition::{Definition, Edge, Stays, Text},
};

impl Differences {
    pub(super) fn edges(
        &mut self,
        older: &Definition,
        newer: &Definition,
        successors: &[Option<usize>],
    ) {
        let pair = Pair::new(older, newer, successors);
        let mut known = BTreeSet::new();
        let same = |a: &Edge, b: &Edge| a.from == b.from && a.trigger == b.trigger;
        for edges in older.edges.chunk_by(same) {
            let called = pair.called(&edges[0]);
            let mut stranded =
                if called.is_empty() { pair.stranded_by_removal(&edges[0]) } else { None };
            for old in edges {
                let has_same_end = |(_, new): &&(usize, &Edge)| Some(new.to) == successors[old.to];
                let Some((index, new)) = called.iter().find(has_same_end) else {
                    let text = text(older, old);
                    let text = format!("move {text} was removed; it stays legal where it was made");
                    self.strand(text, stranded.take());
                    continue;
                };
                known.insert(*index);
                if old.trigger != new.trigger {
                    let (was, is) = (&old.trigger, &new.trigger);
                    self.allow(format!("trigger `{was}` was renamed to `{is}`"));
                }
                if old.stays != new.stays {
                    let now = match new.stays {
                        Stays::Never => "enters its state again",
                        Stays::Always => "stays in its state",
                        Stays::ByBranch => "stays in its state in some branches",
                    };
                    self.allow(format!("move {} now {now}", text(newer, new)));
                }
                if old.detach != new.detach {
                    let now = if new.detach { "now detaches" } else { "no longer detaches" };
                    let strands = pair.waits_for_ever(new).then(|| WAITS_FOR_EVER.to_string());
                    self.strand(format!("move {} {now}", text(newer, new)), strands);
                }
            }
            if let Some((_, new)) = called.first() {
                let text = text(newer, new);
                self.deadline(&pair, &edges[0], new, &text);
                self.payload(&edges[0], new, &text);
                self.actors_of(&pair, &edges[0], new, &text);
            } else if let Some(new) = pair.taken_later(&edges[0]) {
                self.payload(&edges[0], new, &text(newer, new));
            }
        }
        for (index, new) in newer.edges.iter().enumerate() {
            if !known.contains(&index) {
                self.allow(format!("move {} was added", text(newer, new)));
            }
        }
        for name in pair.left_by_new_deadlines() {
            let strands = "a machine that is in it has no such deadline: keep another transition until no \
                           machine is in it";
            let text = format!("only new deadlines leave state `{name}`");
            self.strand(text, Some(strands.to_string()));
        }
        for (here, caller) in pair.without_return() {
            let text = format!("state `{here}` does not lead back to `{caller}`");
            self.strand(text, Some(NO_RETURN.to_string()));
        }
    }

    fn deadline(&mut self, pair: &Pair<'_>, old: &Edge, new: &Edge, text: &str) {
        let (text, strands) = match (&old.deadline, &new.deadline) {
            (None, Some(_)) => (format!("move {text} has a deadline"), None),
            (Some(_), None) => {
                (format!("move {text} no longer has a deadline"), Some(LOST_DEADLINE))
            }
            (Some(_), Some(now)) if !pair.fires(new, old) => {
                let group = now.group.map(|group| &pair.newer.groups[group].name);
                let whose = group.map_or("its state".to_string(), |name| format!("group `{name}`"));
                (format!("the deadline of move {text} is now that of {whose}"), Some(LOST_DEADLINE))
            }
            (None, None) | (Some(_), Some(_)) => return,
        };
        self.strand(text, strands.map(str::to_string));
    }

    /// Compares the payloads. Stored machines hold them in their journals only, and messages that
    /// wait have them. Any actor can have sent one, also another machine with the actor of its
    /// handlers, so moves count, too, that only the machine's own handler makes.
    fn payload(&mut self, old: &Edge, new: &Edge, text: &str) {
        // The items of an outcome have the names of the newer program.
        let is_outcome = old.actors.iter().any(|kind| kind == Call::KIND);
        for item in &*new.payload {
            let name = &item.name;
            let Some(before) = before(item, &old.payload) else {
                let strands = (!item.optional && !is_outcome).then(|| {
                    format!(
                        "a queued message has no `{name}`: if it was renamed, write `#[was = \"old\"]` on \
                         it; otherwise make it an `Option`"
                    )
                });
                self.strand(format!("move {text} also takes `{name}`"), strands);
                continue;
            };
            if before.name != *name {
                let was = &before.name;
                self.allow(format!("item `{was}` of move {text} was renamed to `{name}`"));
            }
            if before.ty != item.ty {
                let (was, is) = (&before.ty, &item.ty);
                let text = format!("item `{name}` of move {text} changed from `{was}` to `{is}`");
                let strands = if is_outcome {
                    "the outcome of a call that has begun has the older type: keep it until no machine is in \
                     the state"
                } else {
                    "a queued message has the older type: keep the item, and take the newer type in one that \
                     is an `Option`"
                };
                self.strand(text, Some(strands.to_string()));
            }
        }
        for item in &*old.payload {
            let mut kept = new.payload.iter().filter_map(|new| before(new, &old.payload));
            if !kept.any(|kept| kept.name == item.name) {
                self.allow(format!("move {text} no longer takes `{}`", item.name));
            }
        }
    }

    fn actors_of(&mut self, pair: &Pair<'_>, old: &Edge, new: &Edge, text: &str) {
        let before = old.actors.iter().map(|kind| pair.newer.current_kind(kind));
        let now = new.actors.iter().map(|kind| &**kind);
        if before.collect::<BTreeSet<_>>() == now.collect::<BTreeSet<_>>() {
            return;
        }
        let strands = match &pair.lost(old)[..] {
            [] => None,
            [None, ..] => Some(
                "a queued message of another actor is never taken: leave `by` out until none is left"
                    .to_string(),
            ),
            kinds => {
                let kinds = list(kinds.iter().flatten().copied());
                Some(format!(
                    "a queued message of {kinds} is never taken: keep {kinds} in `by` until none is left, or \
                     write `Actor::WAS` if the actor was renamed"
                ))
            }
        };
        let actors =
            if new.actors.is_empty() { "anyone".to_string() } else { list(new.actors.iter()) };
        self.strand(format!("move {text} is for {actors}"), strands);
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

const WAITS_FOR_EVER: &str =
    "it waits for ever for a call that was left behind: keep `detach` until none is left";

const NO_RETURN: &str = "the end waits for ever for a call that was left behind: keep a way back, or write `detach` on \
                         the end, until none is left";

const LOST_DEADLINE: &str =
    "a running deadline fails, and is set aside: keep it as it was until none is left";

fn text(definition: &Definition, edge: &Edge) -> String {
    let label = |state: usize| &definition.states[state].label;
    format!("{} -{}-> {}", label(edge.from), edge.trigger, label(edge.to))
}

fn list<'a>(kinds: impl Iterator<Item = &'a Text>) -> String {
    kinds.map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ")
}
