// A transition takes the machine by value.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Draft,

    #[terminal]
    Shipped,
}

fn ship(order: &mut Order<order::Draft>) {
    let _shipped = order.ship();
}

fn main() {
    ship(&mut Order::new());
}
