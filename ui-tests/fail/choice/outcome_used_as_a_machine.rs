// The outcome of a choice is an enum.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(check(ok: bool) => if ok { Packed } else { Stopped })]
    Draft,

    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Stopped,
}

fn main() {
    let _shipped = Order::new().check(true).ship();
}
