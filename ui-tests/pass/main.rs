//! Programs that must compile and run. They are modules of one program, which
//! compiles much faster than many.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "they are programs, not libraries")]
#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests"
)]

mod cfg;
mod choice_by_if;
mod choice_by_match;
mod choice_durable;
mod choice_generic;
mod choice_of_self;
mod deadlines;
mod derived_tool;
mod equal_types;
mod from_macro_rules;
mod generic_guards;
mod generic_language;
mod generics;
mod group_moves;
mod guard_runs_once;
mod guards;
mod handlers;
mod invocations;
mod names_close_to_generated;
mod names_from_macro_rules;
mod names_in_expressions;
mod nine_legal_moves;
mod no_warnings;
mod own_overrides_group;
mod paths_from_here;
mod plain_door;
mod private_and_pub_crate;
mod proofs_that_hold;
mod raw_identifiers;
mod renamed_crate;
mod shared_fields;
mod types_named_a;
mod user_names;

/// A machine at the root of a crate, which has no `super`.
#[machine::machine]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

#[test]
fn a_machine_at_the_root_of_a_crate() {
    let door = AnyDoor::from(Door::new().open().close());
    assert_eq!(door.status(), door::Status::Closed);
}
