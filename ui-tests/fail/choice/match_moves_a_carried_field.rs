// `coupon` is carried over, so the `match` may only borrow what is in it.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pay => match coupon {
        Some(code) => Discounted(code = code),
        None => Paid,
    })]
    Placed { coupon: Option<String> },

    #[terminal]
    Discounted { code: String, coupon: Option<String> },

    #[terminal]
    Paid,
}

fn main() {
    let after = Order::new(None).pay();
    assert_eq!(AnyOrder::from(after).status(), order::Status::Paid);
}
