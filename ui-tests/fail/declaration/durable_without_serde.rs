// M0007

use machine::machine;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq)]
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
    let _id = shipped.id();
}
