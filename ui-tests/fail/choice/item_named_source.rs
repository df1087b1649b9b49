// M0120: `source` is the data of the state that is left.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(source: String) => if source.is_empty() { Refused } else { Shipped })]
    Packed,

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    let after = Order::new().ship("here".to_owned());
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
