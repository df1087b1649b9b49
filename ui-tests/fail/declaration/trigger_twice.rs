// M0105

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(finish => Shipped)]
    #[on(finish => Cancelled)]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    let _shipped = Order::new().finish();
}
