// M0120

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { Refused } else { Shipped })]
    Packed { weight: u32 },

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let after = Order::new(7).ship(8);
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
