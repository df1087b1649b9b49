//! Mistakes in what a state invokes: M00xx in its language, M01xx in its names.

use syn::Ident;

use super::did_you_mean;
use crate::role::Role;

messages! {
    M0025 malformed_invoke(problem: &syn::Error)
        "cannot parse this invocation: {problem}"
        => "write `#[invoke(name: Tool = arguments, done = trigger, failed = trigger)]`, or `#[invoke(name, ..)]` \
            for a field; a set is `name: [Tool] = calls`; the other options are `each = trigger`, `approve`, \
            `approve = function`, `expires = duration`, `within = duration`, `occurrence = text`, \
            `session = text`, `unattended`, `adopt` and `was = \"old_name\"`"

    M0026 invoke_in_a_plain_machine(name: &Ident)
        "`{name}` needs a durable machine: a call that a crash interrupts must be found again"
        => "add `durable` to `#[machine(..)]`, or call the tool in the program"

    M0027 invoke_in_a_terminal_state(name: &Ident, state: &Ident)
        "`{state}` is terminal, so nothing can take the outcome of `{name}`"
        => "invoke it in a state that is left, or remove `#[terminal]`"

    M0130 invoked_is_no_field(name: &Ident, state: &Ident, fields: &[&Ident])
        let write = format!("write the type of the tool and its arguments: `#[invoke({name}: Tool = \
                             arguments)]`");
        let repair = did_you_mean(name, fields, write);
        "`{name}` is not a field of `{state}`, so it does not say what to call" => "{repair}"

    M0131 unknown_outcome(trigger: &Ident, state: &Ident, triggers: &[&Ident])
        let add = format!("add `#[on({trigger}(..) => ..)]` to `{state}`");
        let repair = did_you_mean(trigger, triggers, add);
        "`{trigger}` does not leave `{state}`, so it cannot take an outcome there" => "{repair}"

    M0132 restricted_outcome(trigger: &Ident, option: &str, name: &Ident)
        "`{trigger}` takes the outcome of `{name}`, so it cannot have `{option}`"
        => "remove `{option}`: only the call makes this transition, and nothing refuses or replaces its outcome"

    M0133 outcome_takes(trigger: &Ident, items: usize, role: Role, set: bool)
        let takes = match items {
            0 => "no item".to_owned(),
            1 => "one item".to_owned(),
            several => format!("{several} items"),
        };
        let key = role.key();
        let (brings, form) = brings(role, set);
        "`{trigger}` takes {takes}, but `{key}` brings {brings}"
        => "write `{trigger}({form})`; other fields are computed or carried over"

    M0134 failed_of_a_set(name: &Ident)
        "`{name}` is a set of calls, so it does not fail as a whole"
        => "remove `failed`: `done` brings the outcomes of all calls, and `each` brings every one"

    M0134 each_of_one(name: &Ident)
        "`{name}` is one call, so it has no `each`"
        => "use `done` and `failed`, or invoke a set: `{name}: [Tool] = calls`"

    M0135 outcome_missing(name: &Ident, given: &str, missing: &str)
        "`{given}` is given for `{name}`, but `{missing}` is not: nothing would take that outcome"
        => "add `{missing} = trigger`, or remove `{given}`; without both, the handler of the state gets every outcome"

    M0136 outcome_twice(trigger: &Ident, role: &str, other: &str)
        "`{trigger}` is both `{other}` and `{role}`" => "give each outcome its own trigger"

    M0137 outcome_elsewhere(trigger: &Ident, state: &Ident, name: &Ident, invoking: &Ident)
        "`{trigger}` takes the outcome of `{name}` in `{invoking}`, but `{state}` invokes nothing that has it"
        => "rename one of the triggers: only the call makes this transition"

    M0138 detach_without_leaving(trigger: &Ident)
        "`{trigger}` leaves no state of a durable machine, so there is nothing to detach from"
        => "remove `detach`"

    M0139 outcome_differs(trigger: &Ident, item: &Ident, role: Role, name: &Ident)
        let of = match role {
            Role::Done => "what `done` brings",
            Role::Failed => "what `failed` brings",
            Role::Each => "the outcome of a call",
        };
        "`{trigger}` takes `{{Self}}`, but {of} is `{{T}}`"
        => "give `{item}` the type of the outcome of `{name}`, or name a field of that type"

    M0139 index_differs(trigger: &Ident, item: &Ident)
        "`{trigger}` takes `{{Self}}` for the index of the call, which is `{{T}}`"
        => "write `{item}: usize`"

    M0140 expires_without_approval(name: &Ident)
        "`{name}` has a time for its approval, but nobody has to approve it"
        => "add `approve`, or remove `expires`; `within` limits how long the state waits for the call"

    M0141 unattended_and_approved(name: &Ident)
        "a person approves every call of `{name}`, so it is not unattended"
        => "remove `unattended`, or write `approve = function` to have a person approve some calls only"

    M0141 unattended_without_need(name: &Ident)
        "`{name}` is unattended, but the effect of its tool is `{{Self}}`: it needs no person"
        => "remove `unattended`, so that the compiler reports it if the tool becomes irreversible"
}

fn brings(role: Role, set: bool) -> (&'static str, &'static str) {
    match role {
        Role::Done if set => ("the outcomes of all calls", "outcomes: Vec<Outcome<Tool>>"),
        Role::Done => ("the receipt", "receipt: Receipt"),
        Role::Failed => ("the reason", "why: CallError<Refusal>"),
        Role::Each => {
            ("the outcome of one call, and its index", "outcome: Outcome<Tool>, index: usize")
        }
    }
}
