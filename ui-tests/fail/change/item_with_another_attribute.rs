// M0005: payload items accept only `was` and `audience`.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(cancel(#[serde(default)] reason: String) => Cancelled)]
    Placed,

    #[terminal]
    Cancelled,
}

fn main() {
    let _cancelled = Order::new().cancel("too late".to_owned());
}
