// Choices that cannot be parsed, or lack a target. Triggers are named after the mistakes.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    // M0005: the fields of a target are in parentheses.
    #[on(braces_after_self => if weight < 3 { Self { weight: weight + 1 } } else { Shipped })]
    // M0005: a target takes `field = value`.
    #[on(colon_in_a_target => if weight < 3 { Self(weight: weight + 1) } else { Shipped })]
    // M0005: a branch is a state, `Self` or another choice.
    #[on(branch_not_a_state => if weight > 20 { 3 } else { Shipped })]
    // M0005: a branch leads to one state.
    #[on(two_states_in_a_branch => if weight > 20 { Refused Returned } else { Shipped })]
    // M0005: the arms of a `match` are separated by commas.
    #[on(comma_missing => match weight {
        0 => Shipped
        _ => Refused
    })]
    // M0015: the last `if` of a chain has an `else` as well.
    #[on(else_if_without_else => if weight > 20 { Refused } else if weight > 10 { Shipped })]
    // M0015
    #[on(match_without_arms(yes: Option<bool>) => match yes {})]
    #[on(ship => if weight > 20 { Refused } else if weight > 10 { Returned } else { Shipped })]
    Packed { weight: u32 },

    #[terminal]
    Refused,

    #[terminal]
    Returned,

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new(0).braces_after_self();
    let _after = Order::new(0).colon_in_a_target();
    let _after = Order::new(0).branch_not_a_state();
    let _after = Order::new(0).two_states_in_a_branch();
    let _after = Order::new(0).comma_missing();
    let _after = Order::new(0).else_if_without_else();
    let _after = Order::new(0).ship();
}
