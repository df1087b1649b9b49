// M0005: `from` is an option of group transitions, which are declared on the enum.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(cancel => Cancelled, from = Open)]
    Placed,

    #[terminal]
    Cancelled,
}

fn main() {
    let cancelled = Order::new().cancel();
    assert_eq!(AnyOrder::from(cancelled).status(), order::Status::Cancelled);
}
