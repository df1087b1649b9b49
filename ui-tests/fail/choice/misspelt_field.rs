// M0107: in a branch of a choice.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > limit {
        Refused(reson = "too heavy".to_owned())
    } else {
        Shipped
    })]
    Packed { limit: u32 },

    #[terminal]
    Refused { reason: String },

    #[terminal]
    Shipped,
}

fn main() {
    let after = Order::new(20).ship(7);
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
}
