//! The rows as `#[machine]` writes them. They are built while the user's crate compiles, so every
//! part is borrowed and nothing is dropped.

use core::marker::PhantomData;

use super::{
    ActorDef, ApprovalDef, Cow, DeadlineDef, Definition, Edge, Field, Fingerprint, GroupDef,
    Invocation, Mark, Rows, StateDef, Text,
};
pub use super::{Audience, Stays};
pub use crate::actor::Actor;
use crate::actor::{Category, same};

/// The optional parts of a state. One without any of them is [`state`].
#[derive(Debug, Clone, Copy)]
pub struct StateRow {
    pub docs: &'static str,
    pub stable: bool,
    pub terminal: bool,
    pub fields: &'static [Field],
    pub was: &'static [Text],
    pub upgrades: &'static [u32],
    pub invocation: Option<InvocationRow>,
}

/// The parts of an invocation.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the attribute")]
pub struct InvocationRow {
    pub name: &'static str,
    pub tool: &'static str,
    pub service: &'static str,
    pub method: &'static str,
    pub irreversible: bool,
    pub set: bool,
    /// Each call has to be approved.
    pub approve: bool,
    /// The function that says which calls have to be approved.
    pub approve_when: Option<&'static str>,
    pub unattended: bool,
    pub adopt: bool,
    pub expires: Option<&'static str>,
    pub within: Option<&'static str>,
    pub done: Option<&'static str>,
    pub failed: Option<&'static str>,
    pub each: Option<&'static str>,
    pub was: &'static [Text],
}

/// The optional parts of an edge. One without any of them is [`edge`].
#[derive(Debug, Clone, Copy)]
pub struct EdgeRow {
    pub docs: &'static str,
    pub payload: &'static [Field],
    pub actors: &'static [Text],
    pub guard: Option<&'static str>,
    pub when: Option<&'static str>,
    pub deadline: Option<(&'static str, Option<usize>)>,
    /// See [`DeadlineDef::absolute`].
    pub at: bool,
    pub computed: &'static [Text],
    pub stays: Stays,
    pub detach: bool,
    pub was: &'static [Text],
}

pub const STATE: StateRow = StateRow {
    docs: "",
    stable: false,
    terminal: false,
    fields: &[],
    was: &[],
    upgrades: &[],
    invocation: None,
};

#[cfg(feature = "durable")]
pub(crate) const INVOCATION: InvocationRow = InvocationRow {
    name: "",
    tool: "",
    service: "",
    method: "",
    irreversible: false,
    set: false,
    approve: false,
    approve_when: None,
    unattended: false,
    adopt: false,
    expires: None,
    within: None,
    done: None,
    failed: None,
    each: None,
    was: &[],
};

pub const EDGE: EdgeRow = EdgeRow {
    docs: "",
    payload: &[],
    actors: &[],
    guard: None,
    when: None,
    deadline: None,
    at: false,
    computed: &[],
    stays: Stays::Never,
    detach: false,
    was: &[],
};

/// A state without data that is left again.
#[must_use]
pub const fn state(name: &'static str, label: &'static str) -> StateDef {
    state_with(name, label, STATE)
}

/// A terminal state without data.
#[must_use]
pub const fn end(name: &'static str, label: &'static str) -> StateDef {
    state_with(name, label, StateRow { terminal: true, ..STATE })
}

/// A state.
#[must_use]
pub const fn state_with(name: &'static str, label: &'static str, row: StateRow) -> StateDef {
    let StateRow { docs, stable, terminal, fields, was, upgrades, invocation } = row;
    StateDef {
        name: Cow::Borrowed(name),
        label: Cow::Borrowed(label),
        docs: Cow::Borrowed(docs),
        stable,
        terminal,
        fields: Cow::Borrowed(fields),
        was: Cow::Borrowed(was),
        upgrades: Cow::Borrowed(upgrades),
        invocation: match invocation {
            Some(row) => Some(invocation_of(row)),
            None => None,
        },
    }
}

const fn invocation_of(row: InvocationRow) -> Invocation {
    Invocation {
        name: Cow::Borrowed(row.name),
        tool: Cow::Borrowed(row.tool),
        service: Cow::Borrowed(row.service),
        method: Cow::Borrowed(row.method),
        irreversible: row.irreversible,
        set: row.set,
        approval: match (row.approve, row.approve_when) {
            (_, Some(function)) => ApprovalDef::When(Cow::Borrowed(function)),
            (true, None) => ApprovalDef::Always,
            (false, None) => ApprovalDef::Never,
        },
        unattended: row.unattended,
        adopt: row.adopt,
        expires: text_or_none(row.expires),
        within: text_or_none(row.within),
        done: text_or_none(row.done),
        failed: text_or_none(row.failed),
        each: text_or_none(row.each),
        was: Cow::Borrowed(row.was),
    }
}

/// An edge that brings nothing and that anyone may take.
#[must_use]
pub const fn edge(from: usize, trigger: &'static str, to: usize) -> Edge {
    edge_with(from, trigger, to, EDGE)
}

/// An edge.
#[must_use]
pub const fn edge_with(from: usize, trigger: &'static str, to: usize, row: EdgeRow) -> Edge {
    let EdgeRow { docs, payload, actors, guard, when, deadline, at, computed, stays, detach, was } =
        row;
    Edge {
        from,
        trigger: Cow::Borrowed(trigger),
        to,
        docs: Cow::Borrowed(docs),
        payload: Cow::Borrowed(payload),
        actors: Cow::Borrowed(actors),
        guard: text_or_none(guard),
        when: text_or_none(when),
        deadline: match deadline {
            Some((after, group)) => {
                Some(DeadlineDef { after: Cow::Borrowed(after), absolute: at, group })
            }
            None => None,
        },
        computed: Cow::Borrowed(computed),
        stays,
        detach,
        was: Cow::Borrowed(was),
    }
}

/// A field or an item of a payload that only the program may see.
#[must_use]
pub const fn field(
    name: &'static str,
    ty: &'static str,
    optional: bool,
    was: &'static [Text],
) -> Field {
    field_for(name, ty, optional, was, Audience::Internal)
}

/// A field or an item of a payload.
#[must_use]
pub const fn field_for(
    name: &'static str,
    ty: &'static str,
    optional: bool,
    was: &'static [Text],
    audience: Audience,
) -> Field {
    let (name, ty) = (Cow::Borrowed(name), Cow::Borrowed(ty));
    Field { name, ty, optional, was: Cow::Borrowed(was), audience }
}

/// A type that is called `Option`, which may be one of the user's own: then it has the constant of
/// [`NotOption`].
#[derive(Debug)]
pub struct OfType<T>(PhantomData<T>);

impl<T> OfType<Option<T>> {
    pub const IS_OPTION: bool = true;
}

pub trait NotOption {
    const IS_OPTION: bool = false;
}

impl<T> NotOption for OfType<T> {}

/// A name.
#[must_use]
pub const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// A kind of actor. The kinds of this library are for its own actors.
#[must_use]
pub const fn actor(
    kind: &'static str,
    category: Category,
    was: Option<&'static str>,
    library: bool,
) -> ActorDef {
    assert!(
        library || !crate::actor::is_reserved(kind),
        "this actor has the `KIND` of an actor of the library (`tool_node`, `ecs_node`, \
         `graph_runner`, `reasoning`, `human`, `anyone`); choose another `KIND`"
    );
    ActorDef { kind: Cow::Borrowed(kind), category, was: text_or_none(was) }
}

/// A group.
#[must_use]
pub const fn group(name: &'static str, states: &'static [usize]) -> GroupDef {
    GroupDef { name: Cow::Borrowed(name), states: Cow::Borrowed(states) }
}

/// The whole table, with its fingerprint.
#[must_use]
#[allow(clippy::too_many_arguments, reason = "one per part of the table, in its order")]
pub const fn definition(
    name: &'static str,
    docs: &'static str,
    version: u32,
    context: &'static str,
    marks: &'static [Mark],
    upgrades: &'static [u32],
    states: &'static [StateDef],
    edges: &'static [Edge],
    initial: usize,
    actors: &'static [ActorDef],
    groups: &'static [GroupDef],
) -> Definition {
    assert!(
        differ(marks),
        "`Context::MARKS` has two marks for one member of the context; remove one of them"
    );
    Definition {
        name: Cow::Borrowed(name),
        docs: Cow::Borrowed(docs),
        version,
        context: Cow::Borrowed(context),
        marks: Cow::Borrowed(marks),
        upgrades: Cow::Borrowed(upgrades),
        states: Cow::Borrowed(states),
        edges: Cow::Borrowed(edges),
        initial,
        actors: Cow::Borrowed(actors),
        groups: Cow::Borrowed(groups),
        fingerprint: Fingerprint::of(name, version, (context, marks), states, edges, initial),
    }
}

/// Returns `true` if the names of the marks are all different.
const fn differ(marks: &[Mark]) -> bool {
    let mut i = 0;
    while i < marks.len() {
        let mut j = 0;
        while j < i {
            if same(string(&marks[i].name), string(&marks[j].name)) {
                return false;
            }
            j += 1;
        }
        i += 1;
    }
    true
}

const fn text_or_none(given: Option<&'static str>) -> Option<Text> {
    match given {
        Some(given) => Some(Cow::Borrowed(given)),
        None => None,
    }
}

/// One of the states, in a constant too.
#[must_use]
pub const fn state_of(definition: &'static Definition, index: usize) -> &'static StateDef {
    &slice(&definition.states)[index]
}

/// The name of one of the states in stored data, in a constant too.
#[must_use]
pub const fn name_of(definition: &'static Definition, index: usize) -> &'static str {
    string(&state_of(definition, index).name)
}

/// The name of one of the actors in the journal, in a constant too.
#[must_use]
pub const fn kind_of(definition: &'static Definition, index: usize) -> &'static str {
    string(&slice(&definition.actors)[index].kind)
}

pub(super) const fn string(text: &Text) -> &str {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => text.as_str(),
    }
}

pub(super) const fn slice<T: Clone>(rows: &Rows<T>) -> &[T] {
    match rows {
        Cow::Borrowed(rows) => rows,
        Cow::Owned(rows) => rows.as_slice(),
    }
}
