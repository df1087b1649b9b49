//! Each change of a definition, and its sentences.

use super::compare::{each, older, says};

/// Changes of the older definition: what is put where, or removed, and the sentences. Incompatible
/// ones are marked with `! `, and those that strand work with `~ `.
const CHANGES: &str = r#"
nothing

docs, guards, conditions, durations, groups and computed fields are not a change of what is stored
/docs = "On its way."
/states/1/docs = "There."
/edges/0/when = "place.len() < 3"
/edges/0/computed = ["place"]
/edges/2/guard = "has_key"
/groups = [{"name": "Open", "states": [0, 1]}]

another machine
/name = "letter"
/states/0/name = "far"
> ! `letter` and `parcel` are different machines

a state may be added
/states/- = {"name": "lost", "label": "LOST", "terminal": true}
/edges/- = {"from": 0, "trigger": "lose", "to": 3}
> state `lost` was added
> move AWAY -lose-> LOST was added

a state cannot be removed while a machine may be in it
/states/2 removed
/states/1/terminal = true
/edges/2 removed
/edges/1 removed
/actors = []
> ! state `gone` was removed: keep it until no machine is in it, or write `#[was = "gone"]` on the state that replaces it
> ~ state `here` is now terminal
> move AWAY -arrive-> GONE was removed; it stays legal where it was made
> move HERE -fetch-> GONE was removed; it stays legal where it was made
> actor `clerk` was removed
> actor `owner` was removed

a state may be renamed
/states/1/name = "at_desk"
/states/1/label = "AT_DESK"
/states/1/was = ["there", "here"]
> state `here` was renamed to `at_desk`

two older states can become one
/states/2 removed
/states/0/was = ["gone"]
/edges/1/to = 0
/edges/2/to = 0
> state `gone` was renamed to `away`
> state `away` is no longer terminal

a state may be no longer terminal
/states/2/terminal = false
> state `gone` is no longer terminal

an optional field may be added
/states/1/fields/- = {"name": "shelf", "ty": "Option<u8>", "optional": true}
> in state `here`, optional field `shelf` was added

a field may be no longer optional
/states/1/fields/1/optional = false
> ! in state `here`, field `note` is no longer optional: set `version = 2` on the machine and write `#[upgrade(1 => function)]` on the state

a field may be renamed
/states/1/fields/0 = {"name": "spot", "ty": "String", "was": ["place"]}
> in state `here`, field `place` was renamed to `spot`

renamed and retyped: the type is incompatible
/states/1/fields/0 = {"name": "spot", "ty": "Spot", "was": ["place"]}
> ! in state `here`, field `spot` changed from `String` to `Spot`: set `version = 2` on the machine and write `#[upgrade(1 => function)]` on the state
> in state `here`, field `place` was renamed to `spot`

a move may be added
/edges/- = {"from": 1, "trigger": "lose", "to": 2}
> move HERE -lose-> GONE was added

a move may be removed
/edges/2 removed
> ~ move HERE -fetch-> GONE was removed; it stays legal where it was made

one branch of a choice may be removed
/edges/1 removed
> move AWAY -arrive-> GONE was removed; it stays legal where it was made

a choice that lost a branch is compared by another
/edges/0 removed
/edges/0/payload = []
> move AWAY -arrive-> HERE was removed; it stays legal where it was made
> move AWAY -arrive-> GONE no longer takes `place`

a move may lead elsewhere
/edges/2/to = 0
> move HERE -fetch-> GONE was removed; it stays legal where it was made
> move HERE -fetch-> AWAY was added

a trigger may be renamed
/edges/2/trigger = "collect"
/edges/2/was = ["fetch"]
> trigger `fetch` was renamed to `collect`

a trigger that was renamed without `was`
/edges/2/trigger = "collect"
> ~ move HERE -fetch-> GONE was removed; it stays legal where it was made
> move HERE -collect-> GONE was added

a change that all branches of a choice share is reported once
/edges/0/trigger = "come"
/edges/0/was = ["arrive"]
/edges/1/trigger = "come"
/edges/1/was = ["arrive"]
> trigger `arrive` was renamed to `come`

a move may be for fewer
/edges/2/actors = ["owner"]
> ~ move HERE -fetch-> GONE is for `owner`

a move may be for anyone
/edges/2/actors = []
> move HERE -fetch-> GONE is for anyone

a move may be for more
/edges/2/actors/- = "thief"
/actors/- = {"kind": "thief", "category": "human"}
> move HERE -fetch-> GONE is for `clerk`, `owner`, `thief`
> actor `thief` was added

the order in which actors are named does not count
/edges/2/actors = ["owner", "clerk"]

an actor may be renamed
/edges/2/actors = ["porter", "owner"]
/actors/0 = {"kind": "porter", "category": "human", "was": "clerk"}
> actor `clerk` was renamed to `porter`

an actor that was renamed without `was`
/edges/2/actors = ["porter", "owner"]
/actors/0/kind = "porter"
> ~ move HERE -fetch-> GONE is for `porter`, `owner`
> actor `clerk` was removed
> actor `porter` was added

the initial state may change
/initial = 1
> a new machine is in `here` instead of `away`

a state may be no longer stable
/states/1/stable = false
> state `here` is no longer stable

a state may become stable
/states/0/stable = true
> state `away` is now stable

a move may get a deadline
/edges/2/deadline = {"after": "WEEK"}
> move HERE -fetch-> GONE has a deadline
> ~ only new deadlines leave state `here`

a move may leave a call under way
/edges/2/detach = true
> move HERE -fetch-> GONE now detaches

a version may rise
/version = 2
> version 1 became version 2
"#;

#[test]
fn each_change_is_said() {
    each(CHANGES, &older(), says);
}
