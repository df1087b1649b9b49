// A guarded transition may be refused, so its result must be used.

use machine::machine;

#[machine]
#[derive(Debug)]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => Shipped, guard = is_light -> String)]
    Packed,

    #[on(deliver => Delivered)]
    Shipped,

    #[terminal]
    Delivered,
}

fn is_light(_packed: &order::Packed, weight: &u32) -> Result<(), String> {
    if *weight > 20 { Err("too heavy".to_owned()) } else { Ok(()) }
}

fn main() {
    let _delivered = Order::new().ship(7).deliver();
}
