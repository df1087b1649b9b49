// M0104: a state that `cfg` removes does not exist.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[on(fly => Flown)]
    Packed,

    #[terminal]
    Shipped,

    #[cfg(any())]
    #[terminal]
    Flown,
}

fn main() {
    let flown = Order::new().fly();
    assert_ne!(AnyOrder::from(flown).status(), order::Status::Shipped);
}
