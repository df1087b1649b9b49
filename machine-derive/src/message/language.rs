//! M00xx: mistakes in the language of a declaration.

use std::fmt::Display;

use syn::Ident;

use super::did_you_mean;

const OPTIONS: &str = "the options are `durable`, `context = Type`, `version = 2`, `upgrade(1 => \
                       function)`, `crate = path`, `fields(name: Type, in = State | Group)` \
                       and `on(trigger => Target, from = State | Group)`";

messages! {
    M0001 not_an_enum(problem: &syn::Error)
        "`#[machine]` applies only to enums: {problem}"
        => "write `#[machine] enum Door {{ #[initial] .. }}`, with a variant for each state"

    M0001 malformed_enum(problem: &syn::Error)
        "cannot parse this enum: {problem}"
        => "write the variants as in any enum: `State`, or `State {{ field: Type }}`"

    M0002 unknown_option(option: &impl Display, name: &str, known: &[&str])
        let repair = did_you_mean(&name, known, OPTIONS);
        "unknown option `{option}`" => "{repair}"

    M0002 malformed_options(problem: &syn::Error)
        "cannot parse these options: {problem}" => "{OPTIONS}"

    M0003 durable_generic()
        "a durable machine cannot have generic parameters: its stored form has one type"
        => "name the types, or remove `durable`"

    M0004 tuple_state(state: &Ident)
        "`{state}` has unnamed fields"
        => "name them, as in `{state} {{ reason: String }}`: fields are carried over by name"

    M0005 malformed_on(problem: &syn::Error)
        "cannot parse this transition: {problem}"
        => "write `#[on(trigger(payload) => Target, by = Actor | Actor, guard = function -> Error, after \
            = duration, at = time, detach)]`; only the trigger and the target are required, and the target can be a \
            choice: `if .. {{ A }} else {{ B }}` or `match .. {{ .. => A, .. => B }}`"

    M0005 malformed_on_of_several(problem: &syn::Error)
        "cannot parse this transition: {problem}"
        => "write `on(trigger(payload) => Target, from = State | Group, by = Actor | Actor, guard = \
            function -> Error, after = duration, at = time, detach)`; only the trigger, the target and `from` are \
            required"

    M0006 malformed_mark(mark: &str)
        "`#[{mark}]` takes no arguments" => "write `#[{mark}]`"

    M0007 not_serializable()
        "a durable machine must be serializable"
        => "add `#[derive(serde::Serialize, serde::Deserialize)]` below `#[machine]`"

    M0008 reserved(trigger: &Ident)
        "`{trigger}` is reserved: the machine has a method of that name"
        => "rename the trigger, for example to `do_{trigger}`"

    M0008 reserved_item(item: &Ident)
        "`{item}` is reserved: serialized events have their name under `{item}`"
        => "rename the item, for example to `{item}_name`"

    M0009 discriminant(state: &Ident)
        "`{state}` has a discriminant" => "remove `= ..`: a state is identified by its name"

    M0010 reserved_state(state: &Ident)
        "`{state}` is reserved: the machine's module has an item of that name"
        => "rename the state, for example to `{state}State`"

    M0010 reserved_group(group: &Ident)
        "`{group}` is reserved: the machine's module has an item of that name"
        => "rename the group, for example to `{group}States`"

    M0011 malformed_names(mark: &str)
        "`#[{mark}]` takes names" => "write `#[{mark}(One)]` or `#[{mark}(One | Other)]`"

    M0012 misplaced_attribute(path: &syn::Path)
        let name = quote::quote!(#path).to_string().replace(' ', "");
        "`#[{name}]` does not apply to a machine"
        => "put it on the states or their fields, which become structs; on the enum it would have no \
            effect"

    M0013 reserved_machine(name: &Ident)
        "a machine cannot be named `{name}`: this library uses the name that would be derived from it"
        => "name it after what it models, such as `Order`"

    M0014 repeated_option(option: &impl Display)
        "`{option}` is given twice" => "remove one of the two"

    M0015 choice_without_else()
        "this choice has no `else`"
        => "add `else {{ State }}`: a choice needs a target for every case; to refuse the transition \
            instead, use a guard"

    M0015 match_without_arms()
        "this choice has no arms"
        => "add an arm, as in `match answer {{ Answer::Yes => Executing, Answer::No => Stopped }}`"

    M0016 malformed_was()
        "`was` takes the old name as a string" => "write `#[was = \"old_name\"]`"

    M0017 malformed_upgrade(problem: &syn::Error)
        "cannot parse this upgrade: {problem}"
        => "write `#[upgrade(1 => function)]`, where the function converts data of version 1 to version 2"

    M0018 malformed_version()
        "`version` must be an integer of at least 1" => "write `version = 2`"

    M0019 malformed_audience()
        "`audience` takes `human`, `diagnostic` or `internal`" => "write `#[audience(human)]`"

    M0020 marks_go_by_names(option: &Ident, state: &Ident)
        "`{option}` conflicts with `#[audience(..)]`: views find the fields of `{state}` by their names \
         in the stored data, which `{option}` changes"
        => "remove `{option}`, or the audiences of `{state}`"

    M0021 misspelt_mark(name: &Ident, meant: &str)
        "unknown attribute `{name}`" => "did you mean `#[{meant}]`?"

    M0021 misplaced_mark(name: &Ident, here: &str, there: &str)
        "`#[{name}]` does not apply to {here}" => "move it to {there}"

    M0023 derive_above()
        "derives above `#[machine]` do not reach the states: they apply to the enum, which the attribute \
         replaces"
        => "move `#[derive(..)]` below `#[machine]`"

    M0024 malformed_fields(problem: &syn::Error)
        "cannot parse these shared fields: {problem}"
        => "write `fields(name: Type, other: Type, in = State | Group)`; without `in`, every state has them"

    M0028 field_is_skipped(option: &Ident, field: &Ident)
        "`{option}` keeps `{field}` out of the stored data, so a loaded machine has a default instead"
        => "remove `{option}`, or write `#[lossy]` on `{field}` if it may be lost"

    M0029 without_feature(what: &str)
        "`{what}` needs the feature `durable` of the crate `machine`"
        => "add `features = [\"durable\"]` to the dependency in `Cargo.toml`; `store`, `sqlite` and `worker` \
            include it"
}
