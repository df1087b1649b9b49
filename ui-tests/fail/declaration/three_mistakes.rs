// M0006, M0104 and M0108: one build reports all mistakes.

use machine::machine;

#[machine]
enum Order {
    #[initial(here)]
    #[on(pack => Paked)]
    Placed,

    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let shipped = Order::new().pack().ship();
    assert_eq!(shipped.state().parcel, 7);
}
