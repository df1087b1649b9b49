// M0102

use machine::machine;

#[machine]
enum Order {
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().ship();
}
