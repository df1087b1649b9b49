// M0016: an old name is not empty.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[was = ""]
    Ready,

    #[terminal]
    Shipped,
}

fn main() {
    let shipped = Order::new().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
