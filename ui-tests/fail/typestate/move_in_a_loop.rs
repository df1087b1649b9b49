// A transition consumes the machine.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(touch => Self)]
    #[on(ship => Shipped)]
    Draft,

    #[terminal]
    Shipped,
}

fn main() {
    let order = Order::new();
    for _ in 0..3 {
        let _touched = order.touch();
    }
}
