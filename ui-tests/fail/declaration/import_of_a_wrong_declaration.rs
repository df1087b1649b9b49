// M0203: the import that only an expression uses is not reported as unused.

use std::time::Duration;

use machine::{actor::GraphRunner, machine};

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[on(expire => Expired, by = GraphRunner, after = Duration::from_secs(60))]
    Draft,

    Shipped,

    #[terminal]
    Expired,
}

fn main() {
    let _shipped = Order::new().ship();
}
