// M0103

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    Placed,

    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let shipped = Order::new().pack().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
