// M0021

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(carrier) => Shipped)]
    Placed,

    #[terminl]
    Shipped { carrier: String },
}

fn main() {
    let _shipped = Order::new().ship("by rail".to_owned());
}
