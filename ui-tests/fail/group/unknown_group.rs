// M0112

use machine::machine;

#[machine(on(cancel => Cancelled, from = Active))]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    Placed,

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
