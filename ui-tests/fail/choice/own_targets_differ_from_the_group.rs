// M0119: a state that overrides its group's choice keeps the targets.

use machine::machine;

#[machine(on(finish(paid: bool) => if paid { Shipped } else { Cancelled }, from = Open))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(pack => Packed)]
    Placed,

    #[group(Open)]
    #[on(finish(paid: bool) => if paid { Shipped } else { Returned })]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,

    #[terminal]
    Returned,
}

fn main() {
    let _after = Order::new().finish(true);
    let _after = Order::new().pack().finish(false);
}
