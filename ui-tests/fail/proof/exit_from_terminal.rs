// M0201

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    #[on(take_back => Packed)]
    Shipped,
}

fn main() {
    let _packed = Order::new().ship().take_back();
}
