// M0202: one missing transition makes one error, however many states lie behind it.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,

    #[on(search => Searching)]
    Lost,

    #[on(give_up => Lost)]
    #[on(find => Found)]
    Searching,

    #[terminal]
    Found,
}

fn main() {
    match AnyOrder::from(Order::new()) {
        AnyOrder::Packed(packed) => drop(packed.ship()),
        AnyOrder::Lost(lost) => drop(lost.search().find()),
        AnyOrder::Searching(searching) => drop(searching.give_up()),
        AnyOrder::Shipped(_) | AnyOrder::Found(_) => {}
    }
}
