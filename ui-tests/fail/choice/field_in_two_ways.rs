// M0120: a field is used either by itself or through `source`.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => if weight > 20 { Refused(text = source.weight.to_string()) } else { Shipped })]
    Packed { weight: u32 },

    #[terminal]
    Refused { text: String },

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new(7).ship();
}
