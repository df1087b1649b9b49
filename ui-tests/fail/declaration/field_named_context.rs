// M0120: `context` is the context of the machine.

use machine::machine;

#[machine(context = u32)]
enum Order {
    #[initial]
    #[on(ship(weight = context + 1) => Shipped)]
    Packed { context: u32 },

    #[terminal]
    Shipped { weight: u32 },
}

fn main() {
    let shipped = Order::new(1, 2).ship();
    assert_eq!(shipped.state().weight, 3);
}
