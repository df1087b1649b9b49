// M0201: a group transition leaves every state of the group.

use machine::machine;

#[machine(on(cancel => Cancelled, from = Open))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(ship => Shipped)]
    Placed,

    #[group(Open)]
    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    let cancelled = Order::new().cancel();
    assert_eq!(AnyOrder::from(cancelled).status(), order::Status::Cancelled);
}
