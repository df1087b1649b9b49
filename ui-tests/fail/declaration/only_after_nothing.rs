// M0011

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pay => Paid)]
    Placed,

    #[on(ship => Shipped)]
    Paid,

    #[only_after]
    #[terminal]
    Shipped,
}

fn main() {
    let shipped = Order::new().pay().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}
