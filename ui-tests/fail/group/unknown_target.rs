// M0104: reported once, although the group has two states.

use machine::machine;

#[machine(on(cancel => Canceled, from = Open))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(pack => Packed)]
    Placed,

    #[group(Open)]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    let cancelled = Order::new().pack().cancel();
    assert_eq!(AnyOrder::from(cancelled).status(), order::Status::Cancelled);
}
