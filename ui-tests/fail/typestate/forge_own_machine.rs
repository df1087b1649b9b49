// The fields of a machine are private even to the module that declares it.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _ = Order { state: order::Shipped };
}
