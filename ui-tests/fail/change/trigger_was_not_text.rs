// M0005: `was` takes a name in quotes.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, was = send)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().ship();
}
