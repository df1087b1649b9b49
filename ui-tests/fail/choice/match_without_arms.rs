// M0015

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(confirm(yes: Option<bool>) => match yes {})]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().ship();
}
