//! M01xx: the names do not fit together.

use syn::Ident;

use super::{Message, list, message, nearest};

pub(crate) fn no_states() -> Message {
    message("M0101", "a machine needs at least one state", "add `#[initial] Idle` to start with")
}

pub(crate) fn no_initial(first: &Ident) -> Message {
    message(
        "M0102",
        "no state is marked `#[initial]`",
        format!("mark the state that a new machine is in, for example `{first}`"),
    )
}

pub(crate) fn second_initial(first: &Ident) -> Message {
    message(
        "M0103",
        format!("a machine has one initial state, and that is already `{first}`"),
        "remove one of the two `#[initial]`",
    )
}

pub(crate) fn unknown_state(unknown: &Ident, states: &[&Ident]) -> Message {
    let repair = match nearest(unknown, states) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the states are {}; add `{unknown}` or use one of them", list(states)),
    };
    message("M0104", format!("`{unknown}` is not a state of this machine"), repair)
}

pub(crate) fn duplicate_trigger(trigger: &Ident, state: &Ident) -> Message {
    message(
        "M0105",
        format!("`{state}` has two transitions named `{trigger}`"),
        "rename one of them, or make it one choice: `if .. { A } else { B }`",
    )
}

pub(crate) fn payload_differs(trigger: &Ident, here: &str, there: &str, state: &Ident) -> Message {
    message(
        "M0106",
        format!("`{trigger}` takes ({here}) here, but ({there}) from `{state}`"),
        "use the same payload everywhere, or rename one of the triggers",
    )
}

pub(crate) fn no_such_field(field: &Ident, target: &Ident, fields: &[&Ident]) -> Message {
    let repair = match nearest(field, fields) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "add the field to `{target}` (it has {}), or write `{field}: Type` to keep it in the \
             journal only",
            list(fields)
        ),
    };
    message("M0107", format!("`{target}` has no field `{field}`"), repair)
}

pub(crate) fn uncovered_field(field: &Ident, target: &Ident, source: &Ident) -> Message {
    message(
        "M0108",
        format!("field `{field}` of `{target}` has no source"),
        format!(
            "take it from the caller (`({field})`), compute it (`({field} = ..)`), or carry it over \
             by adding a field `{field}` of the same type to `{source}`"
        ),
    )
}

pub(crate) fn carried_type_differs(
    field: &Ident,
    source: (&Ident, &str),
    target: (&Ident, &str),
) -> Message {
    message(
        "M0109",
        format!(
            "`{field}` is carried over, but it is `{}` in `{}` and `{}` in `{}`",
            source.1, source.0, target.1, target.0
        ),
        format!("use one type, or compute it: `({field} = ..)`"),
    )
}

pub(crate) fn duplicate_payload(item: &Ident) -> Message {
    message("M0110", format!("`{item}` is given twice"), "remove one of them")
}

pub(crate) fn noted_is_a_field(item: &Ident, target: &Ident) -> Message {
    message(
        "M0117",
        format!(
            "`{item}: ..` is only recorded in the journal, and `{target}` has a field of that name"
        ),
        format!("write `{item}` to set the field, or rename the item"),
    )
}

pub(crate) fn guard_differs(trigger: &Ident, there: &Ident) -> Message {
    message(
        "M0118",
        format!("`{trigger}` has a guard either here or from `{there}`, but not in both"),
        "give every transition of this trigger a guard with the same error type, or rename one: a \
         trigger returns the same type from every state",
    )
}

pub(crate) fn duplicate_actor(actor: &str) -> Message {
    message("M0115", format!("`{actor}` is listed twice in this `by`"), "remove one of them")
}

pub(crate) fn same_derived_name(one: &Ident, other: &Ident, derived: &str) -> Message {
    message(
        "M0116",
        format!("`{one}` and `{other}` both become `{derived}` in generated names"),
        "rename one of them: names must differ in more than case and underscores",
    )
}

pub(crate) fn duplicate_state(state: &Ident) -> Message {
    message("M0111", format!("there are two states named `{state}`"), "rename one of them")
}

pub(crate) fn group_missing(trigger: &Ident) -> Message {
    message(
        "M0114",
        format!("`{trigger}` names no group to leave"),
        "name the group, as in `on(cancel => Cancelled, from = Active)`",
    )
}

pub(crate) fn unknown_group(unknown: &Ident, groups: &[&Ident], is_state: bool) -> Message {
    let repair = match nearest(unknown, groups) {
        Some(near) => format!("did you mean `{near}`?"),
        None if is_state => format!("`{unknown}` is a state: write `#[on(..)]` on it instead"),
        None => format!("write `#[group({unknown})]` on its states"),
    };
    message("M0112", format!("no state is in a group `{unknown}`"), repair)
}

pub(crate) fn group_is_a_state(group: &Ident) -> Message {
    message(
        "M0113",
        format!("`{group}` is a state, so it cannot be a group as well"),
        "rename the group",
    )
}

pub(crate) fn no_such_item(item: &Ident, trigger: &Ident, fields: &[&Ident]) -> Message {
    let repair = match nearest(item, fields) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("add the field to a target, or write `{item}: Type` for the branches to use")
        }
    };
    message("M0107", format!("no target of `{trigger}` has a field `{item}`"), repair)
}

pub(crate) fn no_such_field_here(field: &Ident, target: &Ident, fields: &[&Ident]) -> Message {
    let repair = match nearest(field, fields) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add the field to `{target}`, which has {}", list(fields)),
    };
    message("M0107", format!("`{target}` has no field `{field}`"), repair)
}

pub(crate) fn brought_differs(
    trigger: &Ident,
    item: &Ident,
    here: &str,
    there: &str,
    state: &Ident,
) -> Message {
    message(
        "M0106",
        format!("`{trigger}` takes `{item}: {here}` here, but `{item}: {there}` from `{state}`"),
        "use the same type everywhere, or rename one of the triggers",
    )
}

pub(crate) fn brought_type_differs(
    field: &Ident,
    brought: &str,
    target: (&Ident, &str),
) -> Message {
    message(
        "M0109",
        format!("`{field}` is taken as `{brought}`, but it is `{}` in `{}`", target.1, target.0),
        format!("use one type, or convert it in the branch: `{}({field} = ..)`", target.0),
    )
}

pub(crate) fn refusal_differs(trigger: &Ident, here: &str, there: &str, state: &Ident) -> Message {
    message(
        "M0118",
        format!(
            "the guard of `{trigger}` refuses with `{here}` here, but with `{there}` from `{state}`"
        ),
        "use one error type for all guards of this trigger, or rename one of the triggers",
    )
}

pub(crate) fn choice_differs(
    trigger: &Ident,
    here: &[String],
    there: &[String],
    state: &Ident,
) -> Message {
    let kind = |names: &[String]| match names {
        [] => "is not a choice".to_owned(),
        names => format!("chooses between {}", list(names)),
    };
    message(
        "M0119",
        format!("`{trigger}` {} here, but {} from `{state}`", kind(here), kind(there)),
        "use the same targets everywhere, or rename one of the triggers: a trigger returns the same \
         type from every state",
    )
}

pub(crate) fn ambiguous_name(name: &Ident, source: &Ident) -> Message {
    message(
        "M0120",
        format!("`{name}` is ambiguous: it is a field of `{source}` and an item of the payload"),
        format!("write `source.{name}` for the field, or rename the item"),
    )
}

pub(crate) fn captured_field(name: &Ident, target: &Ident) -> Message {
    message(
        "M0120",
        format!(
            "`{name}` is ambiguous: this pattern binds it, and `{target}` gets its field `{name}`"
        ),
        format!("rename the binding, or say what is meant, as in `{target}({name} = ..)`"),
    )
}

pub(crate) fn taken_and_in_source(name: &Ident, whole: bool) -> Message {
    let wrong = if whole {
        format!("`{name}` is taken out of `source`, which is used as a whole here")
    } else {
        format!("`{name}` and `source.{name}` are both used in this transition")
    };
    message("M0120", wrong, format!("write `source.{name}` everywhere in this transition"))
}

pub(crate) fn name_of_ours(name: &Ident, source: Option<&Ident>) -> Message {
    let ours = ours(&name.to_string());
    let (other, repair) = match source {
        Some(source) => (
            format!("a field of `{source}`"),
            format!("write `source.{name}` for the field, or rename it"),
        ),
        None => ("an item of the payload".to_owned(), "rename the item".to_owned()),
    };
    message("M0120", format!("`{name}` is ambiguous: it is {other} and {ours}"), repair)
}

pub(crate) fn binding_of_ours(name: &Ident) -> Message {
    let ours = ours(&name.to_string());
    message(
        "M0120",
        format!("`{name}` is ambiguous: this pattern binds it, and it is {ours}"),
        "rename the binding",
    )
}

/// What a name means in every expression.
fn ours(name: &str) -> &'static str {
    if name == "source" {
        "the data of the source state"
    } else if name == "status" {
        "the status of the source state"
    } else {
        "the context of the machine"
    }
}

pub(crate) fn deadline_brings(item: &Ident, trigger: &Ident) -> Message {
    message(
        "M0121",
        format!("`{trigger}` has a deadline, so no caller can supply `{item}`"),
        format!("compute it (`{item} = ..`), or remove `after`"),
    )
}

pub(crate) fn deadline_without_actor(trigger: &Ident, actors: usize) -> Message {
    let found =
        if actors == 0 { "`by` is missing".to_owned() } else { format!("`by` names {actors}") };
    message(
        "M0122",
        format!("the deadline of `{trigger}` needs exactly one actor to fire as, but {found}"),
        "name one, as in `by = GraphRunner`",
    )
}

pub(crate) fn was_is_taken(was: &str, what: &str) -> Message {
    message(
        "M0123",
        format!("`was = \"{was}\"` is ambiguous: {what}"),
        "an old name maps to exactly one current name; remove this `was`, or rename the other",
    )
}

pub(crate) fn upgrade_from_the_future(from: u32, version: u32) -> Message {
    message(
        "M0124",
        format!("this upgrades version {from}, and the machine has version {version}"),
        format!("set `version = {}` on the machine, or remove the upgrade", from.saturating_add(1)),
    )
}

pub(crate) fn upgrade_from_zero() -> Message {
    message("M0124", "there is no version 0 to upgrade", "versions start at 1: write `1 => ..`")
}

pub(crate) fn upgrade_twice(from: u32) -> Message {
    message("M0124", format!("there are two upgrades from version {from}"), "remove one of them")
}

pub(crate) fn upgrade_without_context() -> Message {
    message(
        "M0124",
        "this machine has no context to upgrade",
        "write `#[upgrade(..)]` on the state whose data it upgrades, or remove this",
    )
}

pub(crate) fn upgrade_of_a_plain_machine() -> Message {
    message(
        "M0124",
        "only a durable machine has stored data to upgrade",
        "add `durable` to `#[machine(..)]`, or remove this",
    )
}

pub(crate) fn state_hides_a_type(state: &Ident, module: &str) -> Message {
    message(
        "M0125",
        format!(
            "the state `{state}` hides this type: the machine's module has a struct of that name"
        ),
        format!(
            "rename the state, or write the path of the type, such as `some::path::{state}`; the data \
             of the state is `{module}::{state}`"
        ),
    )
}

pub(crate) fn misnamed(name: &Ident, meant: &str) -> Message {
    let what = ours(meant);
    message(
        "M0126",
        format!("expressions do not know `{name}`"),
        format!(
            "write `{meant}`, which is {what}; fields and items of the payload have their own names"
        ),
    )
}
