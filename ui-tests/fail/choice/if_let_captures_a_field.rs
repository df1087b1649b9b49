// M0120: the same for `if let`, and for an item of the payload.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(note) => if let Some(note) = former { Noted } else { Shipped })]
    Packed { former: Option<String> },

    #[terminal]
    Noted { note: String },

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new(None).ship("fragile".to_owned());
}
