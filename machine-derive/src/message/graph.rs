//! M02xx: mistakes in the graph.

use syn::Ident;

use super::list;

messages! {
    M0201 exit_from_terminal(state: &Ident, trigger: &Ident)
        "`{state}` is terminal, so `{trigger}` cannot leave it"
        => "remove `#[terminal]` or the transition"

    M0202 unreachable(state: &Ident, reachable: &[&Ident])
        let reachable = are(reachable);
        "`{state}` is unreachable; only {reachable} reachable"
        => "add `#[on(.. => {state})]` to one of these, or remove `{state}`"

    M0203 dead_end(state: &Ident)
        "`{state}` is a dead end: nothing leaves it, and it is not terminal"
        => "mark it `#[terminal]`, or add a transition that leaves it"

    M0204 no_way_out(state: &Ident, reachable: &[&Ident])
        let only = only(reachable);
        "no terminal state is reachable from `{state}`; {only}"
        => "add a transition that leads out, or mark the state where the machine ends `#[terminal]`"

    M0205 not_only_after(state: &Ident, gates: &[Ident], path: &str)
        let gates = either(gates);
        "`{state}` is reachable without passing {gates}: {path}"
        => "route this path through {gates}, or remove `#[only_after]`"

    M0208 unattended(state: &Ident, path: &str)
        "`{state}` calls an irreversible tool, and is reachable without a person: {path}"
        => "add `approve`, let only a `Human` take a transition of this path, or write `unattended`"

    M0208 approved_at_times(state: &Ident, path: &str, function: &str)
        "`{state}` calls an irreversible tool, `{function}` has a person approve some calls only, and the state is \
            reachable without a person: {path}"
        => "write `approve` without a function, let only a `Human` take a transition of this path, or write `unattended`"

    M0209 not_a_person()
        "`{{Self}}` is not `machine::actor::Human`, so it does not prove that a person is there"
        => "name the library's `Human` in `by`, have a person `approve` every call, or write `unattended`"

    M0210 overdue_leaves(trigger: &Ident, state: &Ident, name: &Ident)
        "`{trigger}` takes the outcome of `{name}` also when it is only overdue, and always leaves `{state}`: it would \
            wait until the call has ended, so `within` has no effect"
        => "let a branch stay, as in `match why {{ CallError::Overdue {{ .. }} => Self, .. }}`, add `detach` to leave \
            a call under way behind, or remove `within`"

    M0211 each_leaves(trigger: &Ident, state: &Ident, name: &Ident)
        "`{trigger}` takes one outcome of `{name}` and may leave `{state}` while other calls of the set are under way: \
            two that have ended could wait for each other"
        => "stay, as in `=> Self`, and leave with the trigger of `done`, or add `detach` to leave the others behind"

    M0212 left_behind(end: &Ident, state: &Ident, detached: &Ident, invoking: &Ident, name: &Ident)
        "`{end}` ends the machine from `{state}`, where `{detached}` may have left a call of `{name}` behind, and no other \
            transition leads back to `{invoking}`: it would wait for ever for an outcome that nothing takes"
        => "add `detach` to `{end}` to keep the receipt with the call, or lead back to `{invoking}`"

    M0207 no_way_back(state: &Ident, initial: &Ident, reachable: &[&Ident])
        let only = only(reachable);
        "`{initial}` is not reachable from `{state}`; {only}"
        => "add a transition that leads back to `{initial}`, or a `#[terminal]` state"
}

/// The reachable states, if no end is among them.
fn only(others: &[&Ident]) -> String {
    match others {
        [] => "every way out leads back to it".to_owned(),
        others => format!("only {}", are(others)),
    }
}

fn are(some: &[&Ident]) -> String {
    format!("{} {}", list(some), if some.len() == 1 { "is" } else { "are" })
}

/// "`A` or `B`"
fn either(names: &[Ident]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}
