// M0123: there is still a field of that name in the same state.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed {
        parcel: u64,
        #[was = "parcel"]
        label: String,
    },

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new(7, "books".to_owned()).ship();
}
