// M0123

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    #[was = "Packed"]
    Shipped,
}

fn main() {
    let shipped = Order::new().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
