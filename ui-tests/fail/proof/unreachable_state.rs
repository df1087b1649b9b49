// M0202

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,

    #[terminal]
    Lost { since: u64 },
}

fn main() {
    match AnyOrder::from(Order::new().ship()) {
        AnyOrder::Packed(packed) => drop(packed.ship()),
        AnyOrder::Shipped(_shipped) => {}
        AnyOrder::Lost(lost) => assert_eq!(lost.state().since, 2024),
    }
}
