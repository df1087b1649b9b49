// `label` is carried over, so the condition may only borrow it.

use machine::machine;

fn is_valid(label: String) -> bool {
    !label.is_empty()
}

#[machine]
enum Order {
    #[initial]
    #[on(ship => if is_valid(label) { Shipped } else { Refused })]
    Packed { label: String },

    #[terminal]
    Refused,

    #[terminal]
    Shipped { label: String },
}

fn main() {
    let after = Order::new("books".to_owned()).ship();
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
