//! M01xx: names that do not fit together.

use syn::Ident;

use super::{did_you_mean, list};

type Typed<'a> = (&'a Ident, &'a str);

messages! {
    M0101 no_states()
        "a machine needs at least one state" => "add `#[initial] Idle` to start with"

    M0102 no_initial(first: &Ident)
        "no state is marked `#[initial]`"
        => "mark the state of a new machine, for example `{first}`"

    M0103 second_initial(first: &Ident)
        "only one state can be initial, and `{first}` already is"
        => "remove one of the two `#[initial]`"

    M0104 unknown_state(unknown: &Ident, states: &[&Ident])
        let all = list(states);
        let add = format!("the states are {all}; add `{unknown}` or use one of them");
        let repair = did_you_mean(unknown, states, add);
        "`{unknown}` is not a state of this machine" => "{repair}"

    M0105 duplicate_trigger(trigger: &Ident, state: &Ident)
        "`{state}` has two transitions named `{trigger}`"
        => "rename one of them, or make it one choice: `if .. {{ A }} else {{ B }}`"

    M0106 payload_differs(trigger: &Ident, here: &str, there: &str, state: &Ident)
        "`{trigger}` takes ({here}) here, but ({there}) from `{state}`"
        => "use the same payload everywhere, or rename one of the triggers"

    M0106 brought_differs(trigger: &Ident, item: &Ident, here: &str, there: &str, state: &Ident)
        "`{trigger}` takes `{item}: {here}` here, but `{item}: {there}` from `{state}`"
        => "use the same type everywhere, or rename one of the triggers"

    M0107 no_such_field(field: &Ident, target: &Ident, fields: &[&Ident])
        let all = list(fields);
        let add = format!("add the field to `{target}` (it has {all}), or write `{field}: Type` to keep \
                           it in the journal only");
        let repair = did_you_mean(field, fields, add);
        "`{target}` has no field `{field}`" => "{repair}"

    M0107 no_such_field_here(field: &Ident, target: &Ident, fields: &[&Ident])
        let all = list(fields);
        let repair = did_you_mean(field, fields, format!("add the field to `{target}`, which has {all}"));
        "`{target}` has no field `{field}`" => "{repair}"

    M0107 no_such_item(item: &Ident, trigger: &Ident, fields: &[&Ident])
        let add = format!("add the field to a target, or write `{item}: Type` for the branches to use");
        let repair = did_you_mean(item, fields, add);
        "no target of `{trigger}` has a field `{item}`" => "{repair}"

    M0108 uncovered_field(field: &Ident, target: &Ident, source: &Ident)
        "field `{field}` of `{target}` has no source"
        => "take it from the caller (`({field})`), compute it (`({field} = ..)`), or carry it over by \
            adding a field `{field}` of the same type to `{source}`"

    M0109 carried_type_differs(field: &Ident, source: Typed<'_>, target: Typed<'_>)
        let (from, found) = source;
        let (to, expected) = target;
        "`{field}` is carried over, but it is `{found}` in `{from}` and `{expected}` in `{to}`"
        => "use one type, or compute it: `({field} = ..)`"

    M0109 brought_type_differs(field: &Ident, brought: &str, target: Typed<'_>)
        let (to, expected) = target;
        "`{field}` is taken as `{brought}`, but it is `{expected}` in `{to}`"
        => "use one type, or convert it in the branch: `{to}({field} = ..)`"

    M0110 duplicate_payload(item: &Ident)
        "`{item}` is given twice" => "remove one of them"

    M0111 duplicate_state(state: &Ident)
        "there are two states named `{state}`" => "rename one of them"

    M0112 unknown_states(unknown: &Ident, known: &[&Ident])
        let add = format!("name a state, or write `#[group({unknown})]` on the states that are meant");
        let repair = did_you_mean(unknown, known, add);
        "`{unknown}` is neither a state nor a group" => "{repair}"

    M0113 group_is_a_state(group: &Ident)
        "`{group}` is a state, so it cannot be a group as well" => "rename the group"

    M0114 from_missing(trigger: &Ident)
        "`{trigger}` does not name the states that it leaves"
        => "name states or groups, as in `on(cancel => Cancelled, from = Active | Held)`"

    M0115 duplicate_actor(actor: &str)
        "`{actor}` is listed twice in this `by`" => "remove one of them"

    M0116 same_derived_name(one: &Ident, other: &Ident, derived: &str)
        "`{one}` and `{other}` both become `{derived}` in generated names"
        => "rename one of them: names must differ in more than case and underscores"

    M0117 noted_is_a_field(item: &Ident, target: &Ident)
        "`{item}: ..` is only recorded in the journal, but `{target}` has a field of that name"
        => "write `{item}` to set the field, or rename the item"

    M0118 guard_differs(trigger: &Ident, there: &Ident)
        "`{trigger}` has a guard either here or from `{there}`, but not both"
        => "give every transition of this trigger a guard with the same error type, or rename one: a \
            trigger returns the same type from every state"

    M0118 refusal_differs(trigger: &Ident, here: &str, there: &str, state: &Ident)
        "the guard of `{trigger}` refuses with `{here}` here, but with `{there}` from `{state}`"
        => "use one error type for all guards of this trigger, or rename one of the triggers"

    M0119 choice_differs(trigger: &Ident, here: &[String], there: &[String], state: &Ident)
        let here = choice(here);
        let there = choice(there);
        "`{trigger}` {here} here, but {there} from `{state}`"
        => "use the same targets everywhere, or rename one of the triggers: a trigger returns the same \
            type from every state"

    M0120 ambiguous_name(name: &Ident, source: &Ident)
        "`{name}` is ambiguous: it is a field of `{source}` and an item of the payload"
        => "write `source.{name}` for the field, or rename the item"

    M0120 captured_field(name: &Ident, target: &Ident)
        "`{name}` is ambiguous: this pattern binds it, and `{target}` has a field `{name}`"
        => "rename the binding, or set the field explicitly, as in `{target}({name} = ..)`"

    M0120 taken_and_in_source(name: &Ident)
        "`{name}` and `source.{name}` are both used in this transition"
        => "write `source.{name}` everywhere in this transition"

    M0120 taken_from_a_whole(name: &Ident)
        "`{name}` is moved out of `source`, which is used as a whole here"
        => "write `source.{name}` everywhere in this transition"

    M0120 field_of_ours(name: &Ident, source: &Ident)
        let ours = ours(&name.to_string());
        "`{name}` is ambiguous: it is a field of `{source}` and {ours}"
        => "write `source.{name}` for the field, or rename it"

    M0120 item_of_ours(name: &Ident)
        let ours = ours(&name.to_string());
        "`{name}` is ambiguous: it is an item of the payload and {ours}" => "rename the item"

    M0120 binding_of_ours(name: &Ident)
        let ours = ours(&name.to_string());
        "`{name}` is ambiguous: this pattern binds it, and it is {ours}" => "rename the binding"

    M0121 deadline_brings(item: &Ident, trigger: &Ident)
        "`{trigger}` has a deadline, so no caller can supply `{item}`"
        => "compute it (`{item} = ..`), or remove the deadline"

    M0122 deadline_without_actor(trigger: &Ident)
        "the deadline of `{trigger}` needs exactly one actor to fire as, but `by` is missing"
        => "name one, as in `by = GraphRunner`"

    M0122 deadline_of_several_actors(trigger: &Ident, actors: usize)
        "the deadline of `{trigger}` needs exactly one actor to fire as, but `by` names {actors}"
        => "name one, as in `by = GraphRunner`"

    M0142 deadline_stays(trigger: &Ident, state: &Ident)
        "`Self` starts no deadline again, so that of `{trigger}` would fire only once"
        => "write the name of the state, which enters it again, as in `#[on({trigger} => {state}, ..)]` on \
            `{state}`"

    M0123 was_is_taken(was: &str, what: &str)
        "`was = \"{was}\"` is ambiguous: {what}"
        => "an old name maps to exactly one current name; remove this `was`, or rename the other"

    M0124 upgrade_from_the_future(from: u32, version: u32)
        let next = from.saturating_add(1);
        "this upgrades version {from}, but the machine has version {version}"
        => "set `version = {next}` on the machine, or remove the upgrade"

    M0124 upgrade_from_zero()
        "there is no version 0 to upgrade" => "versions start at 1: write `1 => ..`"

    M0124 upgrade_twice(from: u32)
        "there are two upgrades from version {from}" => "remove one of them"

    M0124 upgrade_without_context()
        "this machine has no context to upgrade"
        => "write `#[upgrade(..)]` on the state whose data it upgrades, or remove this"

    M0124 upgrade_of_a_plain_machine()
        "only a durable machine has stored data to upgrade"
        => "add `durable` to `#[machine(..)]`, or remove this"

    M0125 state_hides(state: &Ident, module: &str)
        "the state `{state}` shadows this type: the machine's module has a struct of that name"
        => "rename the state, or write the path of the type, such as `some::path::{state}`; the data of \
            the state is `{module}::{state}`"

    M0127 shared_and_own(field: &Ident, state: &Ident)
        "`{state}` already has the shared field `{field}`"
        => "remove `{field}` here, or name in `in` only the states that share it"

    M0128 reserved_field(field: &Ident)
        "the shared field `{field}` would be a method that every machine has already"
        => "rename the field, for example to `the_{field}`"

    M0128 field_is_a_trigger(field: &Ident)
        "`{field}` is both a shared field and a transition, and each becomes a method"
        => "rename one of them"

    M0129 shared_twice(field: &Ident)
        "`{field}` is shared twice"
        => "declare it once, and name all of its states in `in`; data of another type need another name"
}

fn choice(names: &[String]) -> String {
    match names {
        [] => "is not a choice".to_owned(),
        names => format!("chooses between {}", list(names)),
    }
}

fn ours(name: &str) -> &'static str {
    match name {
        "source" => "the data of the source state",
        "status" => "the status of the source state",
        _ => "the context of the machine",
    }
}
