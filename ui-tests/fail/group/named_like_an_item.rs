// M0010

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[group(Status)]
    #[on(ship => Shipped)]
    Packed,

    #[group(Status)]
    #[terminal]
    Shipped,
}

fn main() {
    let shipped = Order::new().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
