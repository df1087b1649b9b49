// Mistakes around shared fields. Each machine and each function is named after its mistake.

use machine::machine;

// M0112: a name in `in` is neither a state nor a group.
#[machine(fields(goal: String, in = Planning | Workng))]
enum UnknownName {
    #[initial]
    #[group(Working)]
    #[on(finish => Finished)]
    Planning,

    #[group(Working)]
    #[terminal]
    Finished,
}

// M0108: an entry does not fill a shared field.
#[machine(fields(goal: String, in = Working | Finished))]
enum Unfilled {
    #[initial]
    #[on(start => Working)]
    Idle,

    #[on(finish => Finished)]
    Working,

    #[terminal]
    Finished,
}

// M0128: a shared field and a transition have one name.
#[machine(fields(pause: u32))]
enum NamedLikeATransition {
    #[initial]
    #[on(pause => Paused)]
    Running,

    #[on(resume => Running)]
    Paused,
}

// M0024: there is no field.
#[machine(fields(in = Done))]
enum NoField {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0024: a field has no type, and another one can be read.
#[machine(fields(goal, epoch: u64))]
enum WithoutAType {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0024: a comma is missing.
#[machine(fields(goal: String in = Done, epoch: u64))]
enum WithoutAComma {
    #[initial]
    #[on(end(goal, epoch) => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0024: `in` is misspelt.
#[machine(fields(goal: String, on = Done))]
enum MisspeltIn {
    #[initial]
    #[on(end(goal) => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0024: `in` has no names.
#[machine(fields(goal: String, in =))]
enum NoNames {
    #[initial]
    #[on(end(goal) => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0014: `in` is given twice.
#[machine(fields(goal: String, in = Begun, in = Done))]
enum InTwice {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0110: a state is named twice.
#[machine(fields(goal: String, in = Begun | Begun))]
enum NamedTwice {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0123: the old name of a shared field is that of another field, in each of its states.
#[machine(fields(#[was = "size"] length: u32, size: u32))]
enum OldName {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0116: the traits of both fields would be named `HasTurnId`.
#[machine(fields(turn_id: u32, turn__id: u32))]
enum SameTrait {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

#[machine(fields(goal: String))]
enum TraitIsAState {
    #[initial]
    #[on(end => HasGoal)]
    Begun,

    // M0010: the states that have the field implement a trait of this name.
    #[terminal]
    HasGoal,
}

// M0112: a name in `in` is unknown, and similar to no other.
#[machine(fields(goal: String, in = Everywhere))]
enum NamesNothing {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0024: a name is missing behind a bar.
#[machine(fields(goal: String, in = Begun |))]
enum EndsInABar {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

// M0128: a typed machine is converted into the erased one with a method of this name.
#[machine(fields(into: String))]
enum NamedLikeAConversion {
    #[initial]
    #[on(end => Done)]
    Begun,

    #[terminal]
    Done,
}

fn read(unknown: &UnknownName<unknown_name::Planning>, twice: &InTwice<in_twice::Done>) -> usize {
    unknown.goal().len() + twice.goal().len()
}

fn without_a_type(begun: WithoutAType<without_a_type::Begun>, any: &AnyWithoutAType) -> u64 {
    let length = any.goal().len() as u64;
    length + begun.end().epoch() + any.epoch()
}

fn without_a_comma(any: &AnyWithoutAComma) -> (Option<&String>, u64) {
    let done = WithoutAComma::new().end("a shed".to_owned(), 7);
    (any.goal(), *done.epoch())
}

fn misspelt_in(any: &AnyMisspeltIn) -> Option<&String> {
    assert_eq!(MisspeltIn::new().end("a shed".to_owned()).goal(), "a shed");
    any.goal()
}

fn no_names(any: &AnyNoNames) -> Option<&String> {
    assert_eq!(NoNames::new().end("a shed".to_owned()).goal(), "a shed");
    any.goal()
}

fn in_the_initial_state(any: &AnyEndsInABar) -> Option<&String> {
    let done = NamesNothing::new("a shed".to_owned()).end();
    assert_eq!(done.goal(), "a shed");
    let _done = EndsInABar::new("a shed".to_owned()).end();
    any.goal()
}

fn main() {}
