// M0104: what `cfg` switches off is not there.

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
