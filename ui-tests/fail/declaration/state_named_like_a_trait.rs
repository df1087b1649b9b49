// M0010, of a trait that the machine has because a trigger is not for everyone.

use machine::actor::ToolNode;
use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pay => MayShip)]
    Placed,

    #[on(ship => Shipped, by = ToolNode)]
    MayShip,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().pay().ship(&ToolNode);
}
