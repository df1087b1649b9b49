// Guards and their results. Triggers and functions are named after the mistakes.

use machine::machine;

#[derive(Debug)]
struct TooHeavy;

async fn asynchronous(_: &order::Packed, weight: &u32) -> Result<(), String> {
    if *weight > 20 { Err("too heavy".to_owned()) } else { Ok(()) }
}

fn has_arrived(_: &order::Shipped, _: &u32) -> Result<(), String> {
    Ok(())
}

fn weigh(_: &order::Packed, weight: &u32) -> Result<(), u32> {
    if *weight > 20 { Err(*weight) } else { Ok(()) }
}

fn is_heavy(_: &order::Packed, weight: &u32) -> bool {
    *weight > 20
}

fn takes_a_value(_: &order::Packed, weight: u32) -> Result<(), String> {
    if weight > 20 { Err("too heavy".to_owned()) } else { Ok(()) }
}

fn takes_too_much(_: &order::Packed, _context: &(), _weight: &u32) -> Result<(), String> {
    Ok(())
}

fn takes_too_little(_: &order::Packed) -> Result<(), String> {
    Ok(())
}

fn is_light(_: &order::Packed, weight: &u32) -> Result<(), TooHeavy> {
    if *weight > 20 { Err(TooHeavy) } else { Ok(()) }
}

#[machine]
#[derive(Debug)]
enum Order {
    #[initial]
    // A guard is not asynchronous.
    #[on(asynchronous(weight: u32) => Shipped, guard = asynchronous -> String)]
    // The guard of a transition out of `Packed` takes the data of `Packed`.
    #[on(of_another_state(weight: u32) => Shipped, guard = has_arrived -> String)]
    // `-> String` declares the error type of the guard, and this guard returns a number.
    #[on(refuses_with_another_type(weight: u32) => Shipped, guard = weigh -> String)]
    // A guard returns a `Result`.
    #[on(returns_a_bool(weight: u32) => Shipped, guard = is_heavy -> String)]
    // A guard takes the payload by reference.
    #[on(takes_a_value(weight: u32) => Shipped, guard = takes_a_value -> String)]
    // The machine has no context, so its guards take none.
    #[on(takes_too_much(weight: u32) => Shipped, guard = takes_too_much -> String)]
    // A guard takes the state, the context and the payload; this one takes the state only.
    #[on(takes_too_little(weight: u32) => Shipped, guard = takes_too_little -> String)]
    // The erased machine reports a refusal as text, so the error type implements `Display`.
    #[on(unprintable_error(weight: u32) => Shipped, guard = is_light -> TooHeavy)]
    Packed,

    #[on(deliver => Delivered)]
    Shipped,

    #[terminal]
    Delivered,
}

// A guarded transition may be refused, so its result must be handled.
fn refusal_not_handled(packed: Order<order::Packed>) {
    let _delivered = packed.takes_a_value(7).deliver();
}

fn main() {}
