// M0117: `reason: String` is a field of `Refused`, which this branch does not set.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(close(reason: String) => if reason.is_empty() { Shipped } else { Refused })]
    Packed,

    #[terminal]
    Refused { reason: String },

    #[terminal]
    Shipped,
}

fn main() {
    let after = Order::new().close(String::new());
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
