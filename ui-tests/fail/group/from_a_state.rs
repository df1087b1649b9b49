// M0112

use machine::machine;

#[machine(on(cancel => Cancelled, from = Placed))]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Placed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    let cancelled = Order::new().cancel();
    assert_eq!(AnyOrder::from(cancelled).status(), order::Status::Cancelled);
}
