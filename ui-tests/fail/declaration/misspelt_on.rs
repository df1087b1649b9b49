// M0021

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[onn(ship(carrier) => Shipped)]
    Placed,

    #[terminal]
    Shipped { carrier: String },
}

fn main() {
    let _shipped = Order::new().ship("by rail".to_owned());
}
