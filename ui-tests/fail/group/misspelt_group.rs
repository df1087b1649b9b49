// M0112

use machine::machine;

#[machine(on(cancel(reason) => Cancelled, from = Activ))]
enum Order {
    #[initial]
    #[group(Active)]
    #[on(pack => Packed)]
    Placed,

    #[group(Active)]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled { reason: String },
}

fn is_open<S: order::Active>(_order: &Order<S>) -> bool {
    true
}

fn main() {
    let placed = Order::new();
    assert!(is_open(&placed));
    let cancelled = placed.pack().cancel("too late".to_owned());
    assert_eq!(cancelled.state().reason, "too late");
}
