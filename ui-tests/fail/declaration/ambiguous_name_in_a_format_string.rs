// M0120: a format string names variables as well.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(cancel(reason: String, text = format!("cancelled: {reason}")) => Cancelled)]
    Placed { reason: String },

    #[terminal]
    Cancelled { text: String },
}

fn main() {
    let cancelled = Order::new("a gift".to_owned()).cancel("too late".to_owned());
    assert_eq!(cancelled.state().text, "cancelled: too late");
}
