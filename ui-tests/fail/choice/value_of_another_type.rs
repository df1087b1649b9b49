// The value that a branch gives has the type of the field.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > 20 { Refused(reason = "too heavy") } else { Shipped })]
    Packed,

    #[terminal]
    Refused { reason: String },

    #[terminal]
    Shipped,
}

fn main() {
    let after = Order::new().ship(7);
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
