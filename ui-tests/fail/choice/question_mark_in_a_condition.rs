// A choice does not return errors; a guard refuses.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: Option<u32>) => if weight? > 20 { Refused } else { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new().ship(Some(7));
}
