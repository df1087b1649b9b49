// M0204

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[on(wait(days = 0) => Waiting)]
    Packed,

    #[on(wait_on(days = days + 1) => Waiting)]
    Waiting { days: u32 },

    #[terminal]
    Shipped,
}

fn main() {
    let waiting = Order::new().wait().wait_on();
    assert_eq!(waiting.state().days, 1);
}
