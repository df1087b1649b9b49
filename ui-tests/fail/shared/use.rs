// Code that reads shared fields. Functions are named after the mistakes.

use machine::machine;

#[machine(fields(goal: String, in = Working), fields(epoch: u64))]
enum Plan {
    #[initial]
    #[on(start(goal) => Drafting)]
    Idle,

    #[group(Working)]
    #[on(build => Building)]
    Drafting,

    #[group(Working | Late)]
    #[on(finish => Finished)]
    Building,

    #[group(Late)]
    #[terminal]
    Finished,
}

// The state has no such field.
fn in_a_state_without_it(plan: &Plan<plan::Idle>) -> &str {
    plan.goal()
}

// Some states of the group have no such field.
fn in_a_group_without_it<S: plan::Late>(plan: &Plan<S>) -> &str {
    plan.goal()
}

// In any state, the field may be missing.
fn in_any_state<S: plan::AnyState>(plan: &Plan<S>) -> &str {
    plan.goal()
}

// A type that is not a state of the machine.
fn epoch<S: plan::AnyState>(plan: &Plan<S>) -> u64 {
    *plan.epoch()
}

fn of_no_state(plan: &Plan<String>) -> u64 {
    epoch(plan)
}

fn main() {}
