// M0120: a field that is used by itself is no longer in `source`.

use machine::machine;

fn is_valid(packed: &order::Packed) -> bool {
    !packed.label.is_empty()
}

#[machine]
enum Order {
    #[initial]
    #[on(ship => if is_valid(&source) { Shipped(text = label) } else { Refused })]
    Packed { label: String },

    #[terminal]
    Refused,

    #[terminal]
    Shipped { text: String },
}

fn main() {
    let packed = Order::new("books".to_owned());
    assert!(is_valid(packed.state()));
    let _after = packed.ship();
}
