// M0123: moves recorded as `finish` belong to one of the two.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, was = "finish")]
    #[on(cancel => Cancelled, was = "finish")]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    let _shipped = Order::new().ship();
    let _cancelled = Order::new().cancel();
}
