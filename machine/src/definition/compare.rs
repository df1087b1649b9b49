use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};
use core::fmt;

use super::{Definition, Field, StateDef, Text};

mod edges;
mod invocation;
mod strands;

/// The differences between a definition of a machine and the one that stored data were written
/// under.
///
/// ```
/// use machine::contract::execution;
///
/// let comparison = execution::DEFINITION.compare(execution::DEFINITION);
/// assert!(comparison.is_compatible());
/// assert_eq!(comparison.to_string(), "no change");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// Every difference, the incompatible ones first.
    pub differences: Vec<Difference>,
}

/// One difference between two definitions. Displayed as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Stored machines can be read in spite of it.
    pub compatible: bool,
    /// The work in flight that it strands, such as a queued message that nothing takes any more,
    /// and what to write or to keep instead; `None` if it strands none. Machines are loaded all the
    /// same: only `testing::assert_upgrades` refuses such a change.
    pub strands: Option<String>,
    /// The state whose machines cannot be read, by its name in the older definition; `None` for a
    /// compatible change, and for one that concerns every state.
    pub state: Option<Text>,
    text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Comparison {
    /// Returns `true` if every machine that was written under the older definition can be read.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.differences.iter().all(|change| change.compatible)
    }

    /// The differences that keep a machine in this state, by its name in the older definition, from
    /// being read.
    pub fn blocking(&self, state: &str) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |change| {
            !change.compatible && change.state.as_ref().is_none_or(|blocked| blocked == state)
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.differences.is_empty() {
            return f.write_str("no change");
        }
        for (position, change) in self.differences.iter().enumerate() {
            let separator = if position == 0 { "" } else { "; " };
            write!(f, "{separator}{change}")?;
        }
        Ok(())
    }
}

impl Definition {
    /// Compares this definition, under which data were written, with the one that is to read them.
    ///
    /// Moves, actors, groups and marks may change freely: a journal entry is checked against the
    /// definition that it was written under. States may be added, and renamed with `was`. Fields
    /// may be renamed with `was`, and added where they are optional. Any other change of a state's
    /// data, and another type of context, needs an upgrade function. Data of a higher version are
    /// not read. A change that leaves queued messages, running deadlines or calls in flight without
    /// a way on says so in [`Difference::strands`].
    #[must_use]
    pub fn compare(&self, newer: &Self) -> Comparison {
        let mut found = Differences::default();
        if self.name != newer.name {
            let text = format!("`{}` and `{}` are different machines", newer.name, self.name);
            found.refuse(None, text);
        } else if self.version > newer.version {
            // The program is the older one, so nothing is missing from it.
            let text = format!(
                "the data has version {}, but this program has version {}: use the newer program",
                self.version, newer.version
            );
            found.refuse(None, text);
        } else {
            let successors = self.successors(newer);
            found.machine(self, newer);
            found.states(self, newer, &successors);
            found.edges(self, newer, &successors);
            found.actors(self, newer);
        }
        found.0.sort_by_key(|change| change.compatible);
        Comparison { differences: found.0 }
    }

    /// The state of `newer` that takes over machines in one of this definition's states.
    pub(crate) fn successor(&self, state: usize, newer: &Self) -> Option<usize> {
        let name = &self.states[state].name;
        let renamed = || newer.states.iter().position(|state| state.was.contains(name));
        newer.state(name).or_else(renamed)
    }

    fn successors(&self, newer: &Self) -> Vec<Option<usize>> {
        let states = || newer.states.iter().enumerate();
        let names: BTreeMap<&Text, usize> =
            states().map(|(index, state)| (&state.name, index)).collect();
        let was = states().flat_map(|(index, state)| state.was.iter().map(move |old| (old, index)));
        let was: BTreeMap<&Text, usize> = was.collect();
        let states = self.states.iter();
        states
            .map(|state| names.get(&state.name).or_else(|| was.get(&state.name)).copied())
            .collect()
    }
}

#[derive(Default)]
struct Differences(Vec<Difference>, BTreeSet<String>);

impl Differences {
    fn allow(&mut self, text: String) {
        self.strand(text, None);
    }

    /// Adds a change that can be read, and the work that it strands. A trigger leaves many states,
    /// so the same sentence may come more than once.
    fn strand(&mut self, text: String, strands: Option<String>) {
        if self.1.insert(text.clone()) {
            self.0.push(Difference { compatible: true, strands, state: None, text });
        }
    }

    fn refuse(&mut self, state: Option<&Text>, text: String) {
        self.0.push(Difference { compatible: false, strands: None, state: state.cloned(), text });
    }

    /// Compares the parts that concern every state.
    fn machine(&mut self, older: &Definition, newer: &Definition) {
        let (from, to) = (older.version, newer.version);
        if from < to {
            self.allow(format!("version {from} became version {to}"));
        }
        if older.context != newer.context {
            let text = format!("the context changed from {} to {}", name(older), name(newer));
            if newer.upgrades.iter().any(|step| (from..to).contains(step)) {
                self.allow(format!("{text}; it is upgraded from version {from}"));
            } else {
                let version = if to > from {
                    String::from("write")
                } else {
                    format!("set `version = {}` and", from.saturating_add(1))
                };
                self.refuse(
                    None,
                    format!("{text}: {version} `upgrade({from} => function)` on the machine"),
                );
            }
        }
        let initial = |definition: &Definition| definition.states[definition.initial].name.clone();
        if older.successor(older.initial, newer) != Some(newer.initial) {
            let text =
                format!("a new machine is in `{}` instead of `{}`", initial(newer), initial(older));
            self.allow(text);
        }
    }

    fn states(&mut self, older: &Definition, newer: &Definition, successors: &[Option<usize>]) {
        let mut taken = BTreeSet::new();
        for (index, state) in older.states.iter().enumerate() {
            let name = &state.name;
            let Some(successor) = successors[index] else {
                self.refuse(
                    Some(name),
                    format!(
                        "state `{name}` was removed: keep it until no machine is in it, or write \
                         `#[was = \"{name}\"]` on the state that replaces it"
                    ),
                );
                continue;
            };
            taken.insert(successor);
            let successor = &newer.states[successor];
            if successor.name != *name {
                self.allow(format!("state `{name}` was renamed to `{}`", successor.name));
            }
            self.data(older, state, newer, successor);
            self.invocation(state, successor);
            if successor.terminal != state.terminal {
                let now = if successor.terminal { "now" } else { "no longer" };
                let strands = successor.terminal.then(|| {
                    String::from(
                        "nothing moves a machine that is in it, nor takes its messages and the outcomes \
                         of its calls: keep the state as it was until no machine is in it",
                    )
                });
                self.strand(format!("state `{}` is {now} terminal", successor.name), strands);
            }
            if successor.stable != state.stable {
                let now = if successor.stable { "now" } else { "no longer" };
                self.allow(format!("state `{}` is {now} stable", successor.name));
            }
        }
        for (index, state) in newer.states.iter().enumerate() {
            if !taken.contains(&index) {
                self.allow(format!("state `{}` was added", state.name));
            }
        }
    }

    fn data(&mut self, older: &Definition, old: &StateDef, newer: &Definition, new: &StateDef) {
        let mut compatible = Vec::new();
        let mut incompatible = Vec::new();
        let is_removed = |field: &&Field| {
            let mut kept = new.fields.iter().filter_map(|new| before(new, &old.fields));
            !kept.any(|kept| kept.name == field.name)
        };
        let removed: Vec<&Field> = old.fields.iter().filter(is_removed).collect();
        // One that goes, and one of the same type that comes, may be the same field.
        let is_added = |field: &&Field| before(field, &old.fields).is_none() && !field.optional;
        let added: Vec<&Field> = new.fields.iter().filter(is_added).collect();
        let pair = |was: &Field, is: &Field| Some((was.name.clone(), is.name.clone()));
        for field in &removed {
            let renamed = added.iter().find(|added| added.ty == field.ty);
            let renamed = renamed.and_then(|is| pair(field, is));
            incompatible.push((format!("field `{}` was removed", field.name), renamed));
        }
        for field in &*new.fields {
            match before(field, &old.fields) {
                None if field.optional => {
                    compatible.push(format!("optional field `{}` was added", field.name));
                }
                None => {
                    let was = removed.iter().find(|removed| removed.ty == field.ty);
                    let was = was.and_then(|was| pair(was, field));
                    let text = format!(
                        "field `{}` was added, but is not an `Option` and has no serde default",
                        field.name
                    );
                    incompatible.push((text, was));
                }
                Some(before) => {
                    if before.ty != field.ty {
                        let text = format!(
                            "field `{}` changed from `{}` to `{}`",
                            field.name, before.ty, field.ty
                        );
                        incompatible.push((text, None));
                    }
                    if before.optional && !field.optional {
                        let text = format!("field `{}` is no longer optional", field.name);
                        incompatible.push((text, None));
                    }
                    if before.name != field.name {
                        compatible.push(format!(
                            "field `{}` was renamed to `{}`",
                            before.name, field.name
                        ));
                    }
                }
            }
        }
        for text in compatible {
            self.allow(format!("in state `{}`, {text}", new.name));
        }
        let from = older.version;
        let upgraded = new.upgrades.iter().any(|step| (from..newer.version).contains(step));
        for (text, was) in incompatible {
            let text = format!("in state `{}`, {text}", new.name);
            if upgraded {
                self.allow(format!("{text}; it is upgraded from version {from}"));
            } else {
                let renamed = was.map(|(was, is)| {
                    format!(
                        "if `{was}` was renamed, write `#[was = \"{was}\"]` on `{is}`; otherwise "
                    )
                });
                let renamed = renamed.unwrap_or_default();
                let version = if newer.version > from {
                    String::new()
                } else {
                    format!("set `version = {}` on the machine and ", from.saturating_add(1))
                };
                self.refuse(
                    Some(&old.name),
                    format!(
                        "{text}: {renamed}{version}write `#[upgrade({from} => function)]` on the \
                         state"
                    ),
                );
            }
        }
    }
}

/// The older form of a field: the one of its name or, if there is none, of an older name.
pub(crate) fn before<'a>(field: &Field, fields: &'a [Field]) -> Option<&'a Field> {
    let named = fields.iter().find(|other| other.name == field.name);
    named.or_else(|| fields.iter().find(|other| field.was.contains(&other.name)))
}

fn name(definition: &Definition) -> String {
    match &*definition.context {
        "" => String::from("nothing"),
        context => format!("`{context}`"),
    }
}
