// M0104

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Delivered)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _delivered = Order::new().ship();
}
