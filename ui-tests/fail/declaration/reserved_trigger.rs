// M0008

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(state => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().state();
}
