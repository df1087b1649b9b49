// M0109

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed { parcel: u32 },

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let shipped = Order::new(7).ship();
    assert_eq!(shipped.state().parcel, 7);
}
