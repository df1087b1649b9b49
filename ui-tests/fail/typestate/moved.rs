// A transition consumes the machine. Functions are named after the mistakes.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(touch => Self)]
    #[on(ship => Shipped)]
    Draft,

    #[terminal]
    Shipped,
}

// Nothing can be shipped twice.
fn use_after_move(order: Order<order::Draft>) {
    let _shipped = order.ship();
    let _again = order.ship();
}

// The second round has no machine.
fn move_in_a_loop(order: Order<order::Draft>) {
    for _ in 0..3 {
        let _touched = order.touch();
    }
}

// A transition takes the machine by value.
fn move_behind_a_reference(order: &mut Order<order::Draft>) {
    let _shipped = order.ship();
}

fn main() {}
