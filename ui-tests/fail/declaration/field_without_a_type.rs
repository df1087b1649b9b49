// M0001: it is an enum, and not a valid one.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pay => Paid)]
    Placed { cents },

    #[terminal]
    Paid,
}

fn main() {
    let _paid = Order::new(5).pay();
}
