// A condition sees the fields of the source, the payload, `source`, `context` and `status`.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > limit { Refused } else { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let after = Order::new().ship(7);
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
