// M0108

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let shipped = Order::new().ship();
    assert_eq!(shipped.state().parcel, 7);
}
