// The erased machine reports a refusal as text, so the error type implements `Display`.

use machine::machine;

#[machine]
#[derive(Debug)]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => Shipped, guard = is_light -> TooHeavy)]
    Packed,

    #[terminal]
    Shipped,
}

#[derive(Debug)]
struct TooHeavy;

fn is_light(_packed: &order::Packed, weight: &u32) -> Result<(), TooHeavy> {
    if *weight > 20 { Err(TooHeavy) } else { Ok(()) }
}

fn main() {
    let shipped = Order::new().ship(7).unwrap();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
