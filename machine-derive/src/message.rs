//! Every text that the macro can say: what is wrong, what is legal, one repair.

use std::fmt;

use syn::Ident;

/// A mistake in a declaration.
pub(crate) struct Message {
    code: &'static str,
    wrong: String,
    repair: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]\n= help: {}", self.wrong, self.code, self.repair)
    }
}

fn message(code: &'static str, wrong: impl Into<String>, repair: impl Into<String>) -> Message {
    Message { code, wrong: wrong.into(), repair: repair.into() }
}

/// The words in backquotes, in the order given: "`A`, `B` and `C`".
fn list<T: fmt::Display>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

fn nearest<'a>(wrong: &Ident, candidates: &[&'a Ident]) -> Option<&'a Ident> {
    let wrong = wrong.to_string();
    candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(&wrong, &candidate.to_string()), *candidate))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

const OPTIONS: &str = "the options are `durable`, `context = Type`, `crate = path`, and \
                       `on(trigger => Target, from = Group)`";

// M00xx: what is written is not the language of a machine.

pub(crate) fn not_an_enum(problem: &syn::Error) -> Message {
    message(
        "M0001",
        format!("a machine is an enum, and this is none: {problem}"),
        "write `#[machine] enum Door { #[initial] .. }`, with a variant for each state",
    )
}

pub(crate) fn unknown_option(option: &impl fmt::Display) -> Message {
    message("M0002", format!("`{option}` is no option of `#[machine]`"), OPTIONS)
}

pub(crate) fn malformed_options(problem: &syn::Error) -> Message {
    message("M0002", format!("these options cannot be read: {problem}"), OPTIONS)
}

pub(crate) fn durable_generic() -> Message {
    message(
        "M0003",
        "a durable machine cannot have generic parameters: its stored form is of one type",
        "name the types, or remove `durable`",
    )
}

pub(crate) fn tuple_state(state: &Ident) -> Message {
    message(
        "M0004",
        format!("the data of `{state}` have no names"),
        format!("name them, as in `{state} {{ reason: String }}`: fields are carried by name"),
    )
}

pub(crate) fn malformed_on(problem: &syn::Error) -> Message {
    message(
        "M0005",
        format!("this transition cannot be read: {problem}"),
        "write `#[on(trigger(payload) => Target, by = Actor | Actor, guard = function -> Error)]`; \
         payload, `by` and `guard` may be left out",
    )
}

pub(crate) fn malformed_group_on(problem: &syn::Error) -> Message {
    message(
        "M0005",
        format!("this transition cannot be read: {problem}"),
        "write `on(trigger(payload) => Target, from = Group, by = Actor | Actor, guard = function \
         -> Error)`; payload, `by` and `guard` may be left out",
    )
}

pub(crate) fn malformed_mark(mark: &str) -> Message {
    message("M0006", format!("`#[{mark}]` takes nothing"), format!("write `#[{mark}]`"))
}

pub(crate) fn misplaced_attribute(path: &syn::Path) -> Message {
    let name = quote::quote!(#path).to_string().replace(' ', "");
    message(
        "M0012",
        format!("`#[{name}]` has no place on a machine"),
        "put it on the states or their fields, which become structs; on the enum there is nothing \
         that it could change",
    )
}

pub(crate) fn reserved_machine(name: &Ident) -> Message {
    message(
        "M0013",
        format!("a machine cannot be called `{name}`: its module would hide this library"),
        "give it the name of what it is a machine of, such as `Order`",
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
        "a durable machine must be able to go to disk and come back",
        "add `#[derive(serde::Serialize, serde::Deserialize)]` below `#[machine]`",
    )
}

pub(crate) fn reserved(trigger: &Ident) -> Message {
    message(
        "M0008",
        format!("`{trigger}` is taken: every machine has a method of that name"),
        format!("rename the trigger, for example to `do_{trigger}`"),
    )
}

pub(crate) fn reserved_state(state: &Ident) -> Message {
    message(
        "M0010",
        format!("`{state}` is taken: the machine's module has an item of that name"),
        format!("rename the state, for example to `{state}State`"),
    )
}

pub(crate) fn reserved_group(group: &Ident) -> Message {
    message(
        "M0010",
        format!("`{group}` is taken: the machine's module has an item of that name"),
        format!("rename the group, for example to `{group}States`"),
    )
}

pub(crate) fn discriminant(state: &Ident) -> Message {
    message(
        "M0009",
        format!("`{state}` has a number, and states have none"),
        "remove `= ..`: a state is known by its name",
    )
}

// M01xx: the names do not fit together.

pub(crate) fn no_states() -> Message {
    message("M0101", "a machine without states does nothing", "add `#[initial] Idle` to start with")
}

pub(crate) fn no_initial(first: &Ident) -> Message {
    message(
        "M0102",
        "no state is the initial one, so the machine could never begin",
        format!("write `#[initial]` on one state, for example on `{first}`"),
    )
}

pub(crate) fn second_initial(first: &Ident) -> Message {
    message(
        "M0103",
        format!("a machine begins in one state, and that is already `{first}`"),
        "remove one of the two `#[initial]`",
    )
}

pub(crate) fn unknown_state(unknown: &Ident, states: &[&Ident]) -> Message {
    let repair = match nearest(unknown, states) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the states are {}; add `{unknown}` or use one of them", list(states)),
    };
    message("M0104", format!("`{unknown}` is no state of this machine"), repair)
}

pub(crate) fn duplicate_trigger(trigger: &Ident, state: &Ident) -> Message {
    message(
        "M0105",
        format!("`{state}` has two transitions named `{trigger}`"),
        "give one of them another name: the trigger alone must tell where it leads",
    )
}

pub(crate) fn payload_differs(trigger: &Ident, here: &str, there: &str, state: &Ident) -> Message {
    message(
        "M0106",
        format!("`{trigger}` brings ({here}) here, but ({there}) from `{state}`"),
        "let it bring the same everywhere, or give one of the two another name",
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
        format!("nothing gives `{target}` its field `{field}`"),
        format!(
            "let the caller bring it (`({field})`), compute it (`({field} = ..)`), or carry it by \
             adding a field `{field}` of the same type to `{source}`"
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
            "`{field}` would be carried, but it is `{}` in `{}` and `{}` in `{}`",
            source.1, source.0, target.1, target.0
        ),
        format!("use one type, or compute it: `({field} = ..)`"),
    )
}

pub(crate) fn duplicate_payload(item: &Ident) -> Message {
    message("M0110", format!("`{item}` stands twice in this payload"), "remove one of them")
}

pub(crate) fn noted_is_a_field(item: &Ident, target: &Ident) -> Message {
    message(
        "M0117",
        format!("`{item}: ..` goes to the journal only, and `{target}` has a field of that name"),
        format!("write `{item}` to set the field, or give what is noted another name"),
    )
}

pub(crate) fn guard_differs(trigger: &Ident, there: &Ident) -> Message {
    message(
        "M0118",
        format!("the guard of `{trigger}` refuses with another type here than from `{there}`"),
        "let every transition of this name refuse with one type, or give one another name: what a \
         trigger returns is the same everywhere",
    )
}

pub(crate) fn duplicate_actor(actor: &str) -> Message {
    message("M0115", format!("`{actor}` stands twice in this `by`"), "remove one of them")
}

pub(crate) fn same_derived_name(one: &Ident, other: &Ident, derived: &str) -> Message {
    message(
        "M0116",
        format!("`{one}` and `{other}` are both called `{derived}` where names are derived"),
        "rename one of them, so that they differ in more than capitals and underscores",
    )
}

pub(crate) fn duplicate_state(state: &Ident) -> Message {
    message("M0111", format!("there are two states named `{state}`"), "rename one of them")
}

pub(crate) fn group_missing(trigger: &Ident) -> Message {
    message(
        "M0114",
        format!("`{trigger}` leaves no group"),
        "say which one it leaves, as in `on(cancel => Cancelled, from = Active)`",
    )
}

pub(crate) fn unknown_group(unknown: &Ident, groups: &[&Ident], is_state: bool) -> Message {
    let repair = match nearest(unknown, groups) {
        Some(near) => format!("did you mean `{near}`?"),
        None if is_state => format!("`{unknown}` is a state: write `#[on(..)]` on it instead"),
        None => format!("write `#[group({unknown})]` on the states that belong to it"),
    };
    message("M0112", format!("no state belongs to a group `{unknown}`"), repair)
}

pub(crate) fn group_is_a_state(group: &Ident) -> Message {
    message(
        "M0113",
        format!("`{group}` is a state, so it cannot name a group as well"),
        "give the group a name of its own",
    )
}

// M02xx: the graph is wrong.

pub(crate) fn exit_from_terminal(state: &Ident, trigger: &Ident) -> Message {
    message(
        "M0201",
        format!("`{state}` is terminal, so `{trigger}` cannot leave it"),
        "remove `#[terminal]` or the transition",
    )
}

pub(crate) fn unreachable(state: &Ident, reachable: &[&Ident]) -> Message {
    message(
        "M0202",
        format!("no path leads to `{state}`; only {} can be reached", list(reachable)),
        format!("add `#[on(.. => {state})]` to one of these, or remove `{state}`"),
    )
}

pub(crate) fn dead_end(state: &Ident) -> Message {
    message(
        "M0203",
        format!("nothing leaves `{state}`, and it is not terminal"),
        "write `#[terminal]` on it, or a transition that leaves it",
    )
}

pub(crate) fn no_way_out(state: &Ident, reachable: &[&Ident]) -> Message {
    message(
        "M0204",
        format!("from `{state}` no terminal state can be reached; {}", gets_to(reachable)),
        "add a transition that leads out, or write `#[terminal]` where the machine may end",
    )
}

pub(crate) fn not_only_after(state: &Ident, gates: &[Ident], path: &str) -> Message {
    message(
        "M0205",
        format!("`{state}` can be reached without passing {}: {path}", either(gates)),
        format!("lead this path through {}, or remove `#[only_after]`", either(gates)),
    )
}

pub(crate) fn not_never_after(state: &Ident, forbidden: &Ident, path: &str) -> Message {
    message(
        "M0206",
        format!("`{state}` can be reached after `{forbidden}`: {path}"),
        "remove a step of this path, or remove `#[never_after]`",
    )
}

pub(crate) fn no_way_back(state: &Ident, initial: &Ident, reachable: &[&Ident]) -> Message {
    message(
        "M0207",
        format!("from `{state}` there is no way back to `{initial}`; {}", gets_to(reachable)),
        format!("add a transition that leads back to `{initial}`, or a `#[terminal]` state"),
    )
}

/// What one gets to, if not to the end.
fn gets_to(others: &[&Ident]) -> String {
    match others {
        [] => "all that leaves it leads back to it".to_owned(),
        others => format!("one gets to {} and no further", list(others)),
    }
}

/// "`A` or `B`"
fn either(names: &[Ident]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}
