// M0109: types that are written differently are compared by the compiler.

use machine::machine;

type Grams = u32;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed { weight: Grams },

    #[terminal]
    Shipped { weight: u64 },
}

fn main() {
    let shipped = Order::new(7).ship();
    assert_eq!(shipped.state().weight, 7);
}
