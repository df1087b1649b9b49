// M0014: each group has a separate transition.

use machine::machine;

#[machine(on(cancel => Cancelled, from = Open, from = Late))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(ship => Shipped)]
    Placed,

    #[group(Late)]
    #[on(deliver => Cancelled)]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    let _cancelled = Order::new().cancel();
}
