// M0005: `was` takes a name in quotes.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(cancel(#[was = cause] reason: String) => Cancelled)]
    Placed,

    #[terminal]
    Cancelled,
}

fn main() {
    let _cancelled = Order::new().cancel("too late".to_owned());
}
