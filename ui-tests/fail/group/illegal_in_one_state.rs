// The move is legal in one state of the group only.

use machine::machine;

#[machine(on(cancel => Cancelled, from = Active))]
enum Order {
    #[initial]
    #[group(Active)]
    #[on(pay => Paid)]
    Draft,

    #[group(Active)]
    #[on(ship => Shipped)]
    Paid,

    #[terminal]
    Shipped,

    #[terminal]
    Cancelled,
}

fn settle<S: order::Active>(order: Order<S>) -> Order<order::Shipped> {
    order.ship()
}

fn main() {
    let _shipped = settle(Order::new().pay());
}
