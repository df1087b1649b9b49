// M0110

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(parcel, parcel) => Shipped)]
    Packed,

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let shipped = Order::new().ship(7, 7);
    assert_eq!(shipped.state().parcel, 7);
}
