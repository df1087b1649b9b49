//! M00xx: what is written is not the language of a machine.

use std::fmt;

use syn::Ident;

use super::{Message, message};
use crate::text::bare;

const OPTIONS: &str = "the options are `durable`, `context = Type`, `version = 2`, `upgrade(1 => \
                       function)`, `crate = path`, and `on(trigger => Target, from = Group)`";

pub(crate) fn not_an_enum(problem: &syn::Error) -> Message {
    message(
        "M0001",
        format!("`#[machine]` applies only to enums: {problem}"),
        "write `#[machine] enum Door { #[initial] .. }`, with a variant for each state",
    )
}

pub(crate) fn unknown_option(option: &impl fmt::Display) -> Message {
    message("M0002", format!("unknown option `{option}`"), OPTIONS)
}

pub(crate) fn malformed_options(problem: &syn::Error) -> Message {
    message("M0002", format!("cannot parse these options: {problem}"), OPTIONS)
}

pub(crate) fn durable_generic() -> Message {
    message(
        "M0003",
        "a durable machine cannot have generic parameters: its stored form has one type",
        "name the types, or remove `durable`",
    )
}

pub(crate) fn tuple_state(state: &Ident) -> Message {
    message(
        "M0004",
        format!("`{state}` has unnamed fields"),
        format!("name them, as in `{state} {{ reason: String }}`: fields are carried over by name"),
    )
}

pub(crate) fn malformed_on(problem: &syn::Error) -> Message {
    message(
        "M0005",
        format!("cannot parse this transition: {problem}"),
        "write `#[on(trigger(payload) => Target, by = Actor | Actor, guard = function -> Error, after \
         = duration)]`; only the trigger and the target are required, and the target can be a \
         choice: `if .. { A } else { B }` or `match .. { .. => A, .. => B }`",
    )
}

pub(crate) fn malformed_group_on(problem: &syn::Error) -> Message {
    message(
        "M0005",
        format!("cannot parse this transition: {problem}"),
        "write `on(trigger(payload) => Target, from = Group, by = Actor | Actor, guard = function \
         -> Error, after = duration)`; only the trigger, the target and the group are required",
    )
}

pub(crate) fn malformed_mark(mark: &str) -> Message {
    message("M0006", format!("`#[{mark}]` takes no arguments"), format!("write `#[{mark}]`"))
}

pub(crate) fn misplaced_attribute(path: &syn::Path) -> Message {
    let name = quote::quote!(#path).to_string().replace(' ', "");
    message(
        "M0012",
        format!("`#[{name}]` does not apply to a machine"),
        "put it on the states or their fields, which become structs; on the enum it would have no \
         effect",
    )
}

pub(crate) fn reserved_machine(name: &Ident) -> Message {
    message(
        "M0013",
        format!("a machine cannot be named `{name}`: its module would shadow this library"),
        "name it after what it models, such as `Order`",
    )
}

pub(crate) fn malformed_names(mark: &str) -> Message {
    message(
        "M0011",
        format!("`#[{mark}]` takes names"),
        format!("write `#[{mark}(One)]` or `#[{mark}(One | Other)]`"),
    )
}

pub(crate) fn not_serializable() -> Message {
    message(
        "M0007",
        "a durable machine must be serializable",
        "add `#[derive(serde::Serialize, serde::Deserialize)]` below `#[machine]`",
    )
}

pub(crate) fn reserved(trigger: &Ident) -> Message {
    message(
        "M0008",
        format!("`{trigger}` is reserved: every machine has a method of that name"),
        format!("rename the trigger, for example to `do_{trigger}`"),
    )
}

pub(crate) fn reserved_item(item: &Ident) -> Message {
    message(
        "M0008",
        format!("`{item}` is reserved: serialized events have their name under `{item}`"),
        format!("rename the item, for example to `{item}_name`"),
    )
}

pub(crate) fn reserved_state(state: &Ident) -> Message {
    message(
        "M0010",
        format!("`{state}` is reserved: the machine's module has an item of that name"),
        format!("rename the state, for example to `{state}State`"),
    )
}

pub(crate) fn reserved_group(group: &Ident) -> Message {
    message(
        "M0010",
        format!("`{group}` is reserved: the machine's module has an item of that name"),
        format!("rename the group, for example to `{group}States`"),
    )
}

pub(crate) fn discriminant(state: &Ident) -> Message {
    message(
        "M0009",
        format!("`{state}` has a discriminant"),
        "remove `= ..`: a state is identified by its name",
    )
}

pub(crate) fn repeated_option(option: &impl fmt::Display) -> Message {
    message("M0014", format!("`{option}` is given twice"), "remove one of the two")
}

pub(crate) fn choice_without_else() -> Message {
    message(
        "M0015",
        "this choice has no `else`",
        "add `else { State }`: a choice needs a target for every case; to refuse the transition \
         instead, use a guard",
    )
}

pub(crate) fn match_without_arms() -> Message {
    message(
        "M0015",
        "this choice has no arms",
        "add an arm, as in `match answer { Answer::Yes => Executing, Answer::No => Stopped }`",
    )
}

pub(crate) fn malformed_was() -> Message {
    message("M0016", "`was` takes the old name as a string", "write `#[was = \"old_name\"]`")
}

pub(crate) fn malformed_audience() -> Message {
    message(
        "M0019",
        "`audience` takes `human`, `diagnostic` or `internal`",
        "write `#[audience(human)]`",
    )
}

pub(crate) fn malformed_upgrade(problem: &syn::Error) -> Message {
    message(
        "M0017",
        format!("cannot parse this upgrade: {problem}"),
        "write `#[upgrade(1 => function)]`, where the function converts data of version 1 to version 2",
    )
}

pub(crate) fn malformed_version() -> Message {
    message("M0018", "`version` must be an integer of at least 1", "write `version = 2`")
}

pub(crate) fn marks_go_by_names(option: &Ident, state: &Ident) -> Message {
    message(
        "M0020",
        format!(
            "`{option}` and `#[audience(..)]` do not fit together: views find the fields of `{state}` by \
             their names in the stored data, and `{option}` changes these"
        ),
        format!("remove `{option}`, or the marks of `{state}`"),
    )
}

pub(crate) fn misspelt_mark(name: &Ident, meant: &str) -> Message {
    message("M0021", format!("unknown attribute `{name}`"), format!("did you mean `#[{meant}]`?"))
}

pub(crate) fn misplaced_mark(name: &Ident, here: &str, there: &str) -> Message {
    message("M0021", format!("`#[{name}]` does not apply to {here}"), format!("put it on {there}"))
}

pub(crate) fn actor_is_a_value(actor: &Ident) -> Message {
    use heck::ToPascalCase;

    let meant = bare(actor).to_pascal_case();
    message(
        "M0022",
        format!("`{actor}` is not a type: `by` names the types of the actors"),
        format!("write `by = {meant}`, and pass `&{actor}` to the transition"),
    )
}

pub(crate) fn derive_above() -> Message {
    message(
        "M0023",
        "the derives above `#[machine]` do not reach the states: they are for the enum, which it replaces",
        "move `#[derive(..)]` below `#[machine]`",
    )
}
