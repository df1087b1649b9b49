// M0014

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().ship();
}
