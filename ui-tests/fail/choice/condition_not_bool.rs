// A condition is a `bool`.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => if weight { Refused } else { Shipped })]
    Packed { weight: u32 },

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let after = Order::new(7).ship();
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
