// M0021

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    Placed,

    #[on(ship(carrier) => Shipped)]
    Packed,

    #[terminal]
    #[onlyafter(Packed)]
    Shipped { carrier: String },
}

fn main() {
    let _shipped = Order::new().pack().ship("by rail".to_owned());
}
