// A guard takes the state, the context and the payload; this one takes the state only.

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

fn is_light(_packed: &order::Packed) -> Result<(), String> {
    Ok(())
}

fn main() {
    let shipped = Order::new().ship(7).unwrap();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
