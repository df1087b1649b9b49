// M0117

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(parcel: u64) => Shipped)]
    Packed { parcel: u64 },

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let shipped = Order::new(0).ship(7);
    assert_eq!(shipped.state().parcel, 7);
}
