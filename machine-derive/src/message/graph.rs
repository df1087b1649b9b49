//! M02xx: the graph is wrong.

use syn::Ident;

use super::{Message, list, message};

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
        format!("`{state}` is unreachable; only {} {} reachable", list(reachable), are(reachable)),
        format!("add `#[on(.. => {state})]` to one of these, or remove `{state}`"),
    )
}

pub(crate) fn dead_end(state: &Ident) -> Message {
    message(
        "M0203",
        format!("`{state}` is a dead end: nothing leaves it, and it is not terminal"),
        "mark it `#[terminal]`, or add a transition that leaves it",
    )
}

pub(crate) fn no_way_out(state: &Ident, reachable: &[&Ident]) -> Message {
    message(
        "M0204",
        format!("no terminal state is reachable from `{state}`; {}", only(reachable)),
        "add a transition that leads out, or mark the state where the machine ends `#[terminal]`",
    )
}

pub(crate) fn not_only_after(state: &Ident, gates: &[Ident], path: &str) -> Message {
    message(
        "M0205",
        format!("`{state}` is reachable without passing {}: {path}", either(gates)),
        format!("route this path through {}, or remove `#[only_after]`", either(gates)),
    )
}

pub(crate) fn not_never_after(state: &Ident, forbidden: &Ident, path: &str) -> Message {
    message(
        "M0206",
        format!("`{state}` is reachable after `{forbidden}`: {path}"),
        "remove a step from this path, or remove `#[never_after]`",
    )
}

pub(crate) fn no_way_back(state: &Ident, initial: &Ident, reachable: &[&Ident]) -> Message {
    message(
        "M0207",
        format!("`{initial}` is not reachable from `{state}`; {}", only(reachable)),
        format!("add a transition that leads back to `{initial}`, or a `#[terminal]` state"),
    )
}

/// What is reachable, if not the end.
fn only(others: &[&Ident]) -> String {
    match others {
        [] => "every way out leads back to it".to_owned(),
        others => format!("only {} {}", list(others), are(others)),
    }
}

fn are<T>(some: &[T]) -> &'static str {
    if some.len() == 1 { "is" } else { "are" }
}

/// "`A` or `B`"
fn either(names: &[Ident]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}
