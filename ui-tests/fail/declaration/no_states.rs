// M0101

use machine::machine;

#[machine]
enum Order {}

fn main() {
    let _order = Order::new();
}
