// M0004

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(cancel(reason) => Cancelled)]
    Placed,

    #[terminal]
    Cancelled(String),
}

fn main() {
    let cancelled = Order::new().cancel("too late".to_owned());
    let _any = AnyOrder::from(cancelled);
}
