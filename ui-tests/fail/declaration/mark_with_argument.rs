// M0006

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal(forever)]
    Shipped,
}

fn main() {
    let shipped = Order::new().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
