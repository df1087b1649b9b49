// M0123: data stored as `number` belongs to one of the two.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed {
        #[was = "number"]
        parcel: u64,
        #[was = "number"]
        invoice: u64,
    },

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new(7, 8).ship();
}
