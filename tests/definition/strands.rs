//! Changes that stored machines survive, but that strand their messages, deadlines and calls.

use machine::definition::Comparison;
use serde_json::{Value, json};

use super::compare::each;

/// The definition of the released program.
fn released() -> Value {
    let lapse = json!({"after": "WEEK", "group": 0});
    json!({
        "name": "ticket",
        "states": [
            {"name": "new", "label": "NEW"},
            {"name": "open", "label": "OPEN"},
            {"name": "held", "label": "HELD", "invocation": {
                "name": "payment", "tool": "Charge", "service": "bank", "method": "charge",
                "irreversible": true, "done": "paid"
            }},
            {"name": "done", "label": "DONE", "terminal": true}
        ],
        "edges": [
            {"from": 0, "trigger": "file", "to": 1, "actors": ["clerk"],
             "payload": [{"name": "text", "ty": "String"}]},
            {"from": 1, "trigger": "hold", "to": 2, "actors": ["clerk", "owner"]},
            {"from": 1, "trigger": "remind", "to": 2, "deadline": {"after": "DAY"}},
            {"from": 1, "trigger": "lapse", "to": 3, "deadline": lapse, "detach": true},
            {"from": 2, "trigger": "free", "to": 1, "detach": true},
            {"from": 2, "trigger": "lapse", "to": 3, "deadline": lapse},
            {"from": 2, "trigger": "paid", "to": 3, "actors": ["call"],
             "payload": [{"name": "receipt", "ty": "String"}]}
        ],
        "initial": 0,
        "actors": [
            {"kind": "clerk", "category": "human"},
            {"kind": "owner", "category": "human"},
            {"kind": "call", "category": "system"}
        ],
        "groups": [{"name": "Live", "states": [1, 2]}]
    })
}

/// Changes of it, and the work that each strands. What has no sentence strands none.
const CHANGES: &str = r#"
nothing

a trigger that was renamed with `was`
/edges/1/trigger = "park"
/edges/1/was = ["hold"]

without `was`
/edges/1/trigger = "park"
> move OPEN -hold-> HELD was removed; it stays legal where it was made: a queued message is never taken: write `was = "hold"` on the transition that replaces it, or keep it until none is left

a move that leads elsewhere
/edges/1/to = 3

a message that a later state takes
/edges/1 = {"from": 2, "trigger": "hold", "to": 1, "actors": ["clerk", "owner"]}

which needs an item that it does not have
/edges/1 = {"from": 2, "trigger": "hold", "to": 1, "actors": ["clerk", "owner"], "payload": [{"name": "why", "ty": "String"}]}
> move HELD -hold-> OPEN also takes `why`: a queued message has no `why`: if it was renamed, write `#[was = "old"]` on it; otherwise make it an `Option`

an earlier state does not count
/edges/4 = {"from": 0, "trigger": "free", "to": 1}
> move HELD -free-> OPEN was removed; it stays legal where it was made: a queued message is never taken: write `was = "free"` on the transition that replaces it, or keep it until none is left

an item that is optional
/edges/0/payload/- = {"name": "note", "ty": "Option<String>", "optional": true}

an item that is not
/edges/0/payload/- = {"name": "note", "ty": "String"}
> move NEW -file-> OPEN also takes `note`: a queued message has no `note`: if it was renamed, write `#[was = "old"]` on it; otherwise make it an `Option`

also of a move that leads elsewhere now
/edges/0/to = 2
/edges/0/payload/- = {"name": "note", "ty": "String"}
> move NEW -file-> HELD also takes `note`: a queued message has no `note`: if it was renamed, write `#[was = "old"]` on it; otherwise make it an `Option`

an item of another type
/edges/0/payload/0/ty = "Text"
> item `text` of move NEW -file-> OPEN changed from `String` to `Text`: a queued message has the older type: keep the item, and take the newer type in one that is an `Option`

an item that was renamed with `was`
/edges/0/payload/0 = {"name": "body", "ty": "String", "was": ["text"]}

an item less
/edges/0/payload = []

an outcome has what the newer program reads
/edges/6/payload/- = {"name": "index", "ty": "usize"}

an outcome of another type
/edges/6/payload/0/ty = "Receipt"
> item `receipt` of move HELD -paid-> DONE changed from `String` to `Receipt`: the outcome of a call that has begun has the older type: keep it until no machine is in the state

an actor less
/edges/1/actors = ["owner"]
> move OPEN -hold-> HELD is for `owner`: a queued message of `clerk` is never taken: keep `clerk` in `by` until none is left, or write `Actor::WAS` if the actor was renamed

whose message a later state takes
/edges/1/actors = ["owner"]
/edges/- = {"from": 2, "trigger": "hold", "to": 1, "actors": ["clerk"]}

not for anyone any more
/edges/4/actors = ["clerk"]
> move HELD -free-> OPEN is for `clerk`: a queued message of another actor is never taken: leave `by` out until none is left

for anyone
/edges/1/actors = []

an actor that was renamed with `WAS`
/edges/0/actors = ["agent"]
/edges/1/actors = ["agent", "owner"]
/actors/0 = {"kind": "agent", "category": "human", "was": "clerk"}

a deadline that was removed
/edges/2 removed
> move OPEN -remind-> HELD was removed; it stays legal where it was made: a running deadline fails, and is set aside: write `was = "remind"` on the transition that replaces it, or keep it until none is left

a deadline that was renamed with `was`
/edges/2/trigger = "nudge"
/edges/2/was = ["remind"]

a move without its deadline
/edges/2/deadline = null
> move OPEN -remind-> HELD no longer has a deadline: a running deadline fails, and is set aside: keep it as it was until none is left

another time
/edges/2/deadline = {"after": "context.by", "absolute": true}

from the state to its group
/edges/2/deadline/group = 0
> the deadline of move OPEN -remind-> HELD is now that of group `Live`: a running deadline fails, and is set aside: keep it as it was until none is left

from the group to its states
/groups = []
/edges/3/deadline = {"after": "WEEK"}
/edges/5/deadline = {"after": "WEEK"}

from the group to its states, while there is a group of that name
/edges/3/deadline = {"after": "WEEK"}
/edges/5/deadline = {"after": "WEEK"}
> the deadline of move OPEN -lapse-> DONE is now that of its state: a running deadline fails, and is set aside: keep it as it was until none is left
> the deadline of move HELD -lapse-> DONE is now that of its state: a running deadline fails, and is set aside: keep it as it was until none is left

another name of the group
/groups/0/name = "Active"

a group that was split: the deadlines of one part are found
/groups = [{"name": "Active", "states": [1]}, {"name": "Idle", "states": [2]}]
/edges/5/deadline/group = 1
> the deadline of move HELD -lapse-> DONE is now that of group `Idle`: a running deadline fails, and is set aside: keep it as it was until none is left

a state that left its group
/groups/0/states = [1]
/edges/5 removed
> move HELD -lapse-> DONE was removed; it stays legal where it was made: a running deadline fails, and is set aside: write `was = "lapse"` on the transition that replaces it, or keep it until none is left

a guard: whether it refuses is unknown
/edges/1/guard = "is_late"
/edges/2/guard = "is_late"

a call less
/states/2/invocation = null
> state `held` no longer calls payment: Charge: the outcome of a call that has begun is dropped: keep the call until no machine is in the state

an end that waits for a call which another move has left behind
/edges/3/detach = false
> move OPEN -lapse-> DONE no longer detaches: it waits for ever for a call that was left behind: keep `detach` until none is left

a move that waits for the call of its state
/edges/4/detach = false

no way back to a call that may have been left behind
/edges/4/detach = false
/edges/1/to = 3
/edges/2/to = 3
> state `open` does not lead back to `held`: the end waits for ever for a call that was left behind: keep a way back, or write `detach` on the end, until none is left

nor from a state that is on no way yet
/edges/4/detach = false
/states/- = {"name": "closing", "label": "CLOSING"}
/edges/- = {"from": 1, "trigger": "close", "to": 4}
/edges/- = {"from": 4, "trigger": "end", "to": 3}
> state `closing` does not lead back to `held`: the end waits for ever for a call that was left behind: keep a way back, or write `detach` on the end, until none is left

a state that comes after the outcome
/states/- = {"name": "paid", "label": "PAID"}
/edges/6/to = 4
/edges/- = {"from": 4, "trigger": "ship", "to": 3}

another state takes it over
/edges/4/detach = false
/states/- = {"name": "kept", "label": "KEPT", "invocation": {"name": "payment", "tool": "Charge", "service": "bank", "method": "charge", "irreversible": true, "done": "paid"}}
/edges/1/to = 4
/edges/2/to = 4
/edges/- = {"from": 4, "trigger": "paid", "to": 3, "actors": ["call"], "payload": [{"name": "receipt", "ty": "String"}]}

a state without its call, and no call of another one: the end waits for none
/edges/4/detach = false
/edges/1/to = 3
/edges/2/to = 3
/states/2/invocation = null
> state `held` no longer calls payment: Charge: the outcome of a call that has begun is dropped: keep the call until no machine is in the state

no way back, but each end detaches
/edges/4/detach = false
/edges/1/to = 3
/edges/1/detach = true
/edges/2/to = 3
/edges/2/detach = true

a state that is terminal now is reported once
/states/2/terminal = true
/states/2/invocation = null
/edges/6 removed
/edges/5 removed
/edges/4 removed
> state `held` is now terminal: nothing moves a machine that is in it, nor takes its messages and the outcomes of its calls: keep the state as it was until no machine is in it

a new deadline next to another move
/edges/- = {"from": 0, "trigger": "expire", "to": 3, "deadline": {"after": "DAY"}}

a new deadline next to one that is running
/edges/6 removed
/edges/4/deadline = {"after": "DAY"}

a new deadline alone
/edges/0/deadline = {"after": "DAY"}
> only new deadlines leave state `new`: a machine that is in it has no such deadline: keep another transition until no machine is in it

an upgrade from the version of the data
/version = 3
/upgrades = [1, 2]
/states/1/upgrades = [1]

an upgrade from a later version: the state did not change before it
/version = 3
/upgrades = [2]
/states/1/upgrades = [2]
"#;

/// What machines in the state that made the call left behind, before it was removed.
const REMOVED: &str = r#"
its name is another one, without `was`, and its tool, too
/states/2/name = "parked"
/states/2/invocation/service = "mint"
/edges/4/detach = false
> state `open` does not lead back to `held`: the end waits for ever for a call that was left behind: keep a way back, or write `detach` on the end, until none is left
> state `parked` does not lead back to `held`: the end waits for ever for a call that was left behind: keep a way back, or write `detach` on the end, until none is left
"#;

fn strands(what: &str, comparison: &Comparison, expected: &[&str]) {
    let changes = comparison.differences.iter();
    let found = changes.filter_map(|it| Some(format!("{it}: {}", it.strands.as_ref()?)));
    assert_eq!(found.collect::<Vec<_>>(), expected, "{what}");
}

#[test]
fn each_change_says_what_it_strands() {
    each(CHANGES, &released(), |what, comparison, expected| {
        strands(what, comparison, expected);
        assert!(comparison.is_compatible(), "{what}");
    });
    each(REMOVED, &released(), strands);
}
