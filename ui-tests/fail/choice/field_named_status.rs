// M0120: `status` is the status of the state that is left.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => if status > 20 { Refused } else { Shipped })]
    Packed { status: u32 },

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let after = Order::new(7).ship();
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
