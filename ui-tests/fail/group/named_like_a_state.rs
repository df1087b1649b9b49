// M0113

use machine::machine;

#[machine(on(cancel => Cancelled, from = Packed))]
enum Order {
    #[initial]
    #[group(Packed)]
    #[on(pack => Packed)]
    Placed,

    #[group(Packed)]
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
