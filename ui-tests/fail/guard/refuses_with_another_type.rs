// `-> String` declares the error type of the guard, and this guard returns a number.

use machine::machine;

#[machine]
#[derive(Debug)]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => Shipped, guard = is_light -> String)]
    Packed,

    #[terminal]
    Shipped,
}

fn is_light(_packed: &order::Packed, weight: &u32) -> Result<(), u32> {
    if *weight > 20 { Err(*weight) } else { Ok(()) }
}

fn main() {
    let shipped = Order::new().ship(7).unwrap();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
