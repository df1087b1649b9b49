// An arm that matches on a reference binds references, but the field is a `String`.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pay => match &coupon {
        Some(code) => Discounted(code = code),
        None => Paid,
    })]
    Placed { coupon: Option<String> },

    #[terminal]
    Discounted { code: String },

    #[terminal]
    Paid,
}

fn main() {
    let after = Order::new(None).pay();
    assert_eq!(AnyOrder::from(after).status(), order::Status::Paid);
}
