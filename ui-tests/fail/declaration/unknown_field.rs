// M0107

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(carrier) => Shipped)]
    Packed,

    #[terminal]
    Shipped { parcel: u64 },
}

fn main() {
    let _shipped = Order::new().ship("mail".to_owned());
}
