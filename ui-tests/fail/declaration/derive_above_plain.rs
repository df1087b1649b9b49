// M0023

use machine::machine;

#[derive(Debug, Clone, PartialEq)]
#[machine]
enum Order {
    #[initial]
    #[on(ship(parcel) => Shipped)]
    Packed,

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let shipped = Order::new().ship(7);
    assert_eq!(shipped.state().parcel, 7);
}
