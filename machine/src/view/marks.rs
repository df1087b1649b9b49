use crate::definition::{Audience, Definition, Edge, Field, StateDef, Text};

/// The definitions whose marks count: the newest one of the store, that of the program if it is
/// given, and the one that the data were written under. Where they differ, the strictest mark
/// counts, so that neither an older nor a newer program shows data that another one hides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks<'a> {
    newest: &'a Definition,
    own: Option<&'a Definition>,
}

impl<'a> Marks<'a> {
    pub(crate) fn of(newest: &'a Definition) -> Self {
        Self { newest, own: None }
    }

    pub(crate) fn and(mut self, own: Option<&'a Definition>) -> Self {
        self.own = own.filter(|own| own.fingerprint != self.newest.fingerprint);
        self
    }

    /// The audience of a field of a state, named as in the definition that the data were written
    /// under.
    pub(super) fn of_field(&self, written: &StateDef, name: &str) -> Audience {
        self.strictest(|newer| field(&state(newer, &written.name)?.fields, name))
            .into_iter()
            .chain(field(&written.fields, name))
            .min()
            .unwrap_or_default()
    }

    /// The audience of a member of the context. A member that was renamed has no mark under its old
    /// name.
    pub(super) fn of_member(&self, written: &Definition, name: &str) -> Audience {
        let member = |newer: &Definition| {
            let mut marks = newer.marks.iter();
            Some(marks.find(|mark| mark.name == name).map(|mark| mark.audience).unwrap_or_default())
        };
        self.strictest(member).into_iter().chain(member(written)).min().unwrap_or_default()
    }

    /// The audience of an item of a payload. If the move no longer exists, the field that the item
    /// had set decides.
    pub(super) fn of_item(
        &self,
        (from, trigger, to): (&str, &str, &str),
        written: Option<&Definition>,
        name: &str,
    ) -> Audience {
        let newer = |newer: &Definition| {
            let source = state(newer, from);
            let item =
                source.and_then(|source| field(&edge(newer, source, trigger)?.payload, name));
            item.or_else(|| field(&state(newer, to)?.fields, name))
        };
        let older = || {
            let written = written?;
            field(&edge(written, state(written, from)?, trigger)?.payload, name)
        };
        self.strictest(newer).into_iter().chain(older()).min().unwrap_or_default()
    }

    fn strictest(&self, mark: impl Fn(&Definition) -> Option<Audience>) -> Option<Audience> {
        [Some(self.newest), self.own].into_iter().flatten().filter_map(mark).min()
    }
}

/// The state that has this name, or had it.
fn state<'a>(definition: &'a Definition, name: &str) -> Option<&'a StateDef> {
    find(&definition.states, name, |state| (&state.name, &state.was))
}

/// An edge of the move that has this trigger, or had it; all edges of a move have the same payload.
fn edge<'a>(definition: &'a Definition, source: &StateDef, trigger: &str) -> Option<&'a Edge> {
    let from = definition.state(&source.name)?;
    let mut leaving = definition.leaving(from);
    let renamed =
        || definition.leaving(from).find(|edge| edge.was.iter().any(|was| was == trigger));
    leaving.find(|edge| edge.trigger == trigger).or_else(renamed)
}

/// The mark of the field or item that has this name, or had it.
fn field(fields: &[Field], name: &str) -> Option<Audience> {
    find(fields, name, |field| (&field.name, &field.was)).map(|field| field.audience)
}

fn find<'a, T>(all: &'a [T], name: &str, names: impl Fn(&T) -> (&Text, &[Text])) -> Option<&'a T> {
    let renamed = || all.iter().find(|one| names(one).1.iter().any(|was| was == name));
    all.iter().find(|one| names(one).0 == name).or_else(renamed)
}
