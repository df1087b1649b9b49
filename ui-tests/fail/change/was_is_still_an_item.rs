// M0123: there is still an item of that name in the same payload.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(cancel(cause: String, #[was = "cause"] reason: String) => Cancelled)]
    Placed,

    #[terminal]
    Cancelled,
}

fn main() {
    let _cancelled = Order::new().cancel(String::new(), "too late".to_owned());
}
