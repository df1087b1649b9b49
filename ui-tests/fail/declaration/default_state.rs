// M0021

use machine::machine;

#[machine]
#[derive(Debug, Default)]
enum Order {
    #[initial]
    #[on(ship(parcel) => Shipped)]
    #[default]
    Packed,

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let shipped = Order::new().ship(7);
    assert_eq!(shipped.state().parcel, 7);
}
