// M0114

use machine::machine;

#[machine(on(cancel(reason) => Cancelled))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(ship => Shipped)]
    Placed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled { reason: String },
}

fn main() {
    let cancelled = Order::new().cancel("too late".to_owned());
    assert_eq!(cancelled.state().reason, "too late");
}
