// M0012

use machine::machine;

#[machine]
#[derive(Debug, Clone, strum::EnumIter)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().ship();
}
