// M0119

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(finish(paid: bool) => if paid { Shipped } else { Cancelled })]
    #[on(pack => Packed)]
    Placed,

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
