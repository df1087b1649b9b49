// M0123: data stored as `OPEN` belongs to one of the two.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    #[was = "Open"]
    Placed,

    #[on(ship => Shipped)]
    #[was = "Open"]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().pack().ship();
}
