// M0106

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    #[on(cancel(reason) => Cancelled)]
    Placed,

    #[on(cancel(reason, code: u16) => Cancelled)]
    Packed,

    #[terminal]
    Cancelled { reason: String },
}

fn main() {
    let cancelled = Order::new().cancel("too late".to_owned());
    assert_eq!(cancelled.state().reason, "too late");
}
