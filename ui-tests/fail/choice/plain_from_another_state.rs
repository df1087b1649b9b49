// M0119: a choice from one state is a choice from every state.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(finish(paid: bool) => if paid { Shipped } else { Cancelled })]
    #[on(pack => Packed)]
    Placed,

    #[on(finish(paid: bool) => Shipped)]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    let _after = Order::new().finish(true);
    let _after = Order::new().pack().finish(false);
}
