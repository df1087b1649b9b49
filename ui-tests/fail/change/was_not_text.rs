// M0016

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[was = Packed]
    Ready,

    #[terminal]
    Shipped,
}

fn main() {
    let shipped = Order::new().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
