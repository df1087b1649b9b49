// M0016: on a field.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed {
        #[was("parcel")]
        parcel_number: u64,
    },

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new(7).ship();
}
