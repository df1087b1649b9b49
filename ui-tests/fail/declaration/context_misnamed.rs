// M0126

use machine::machine;

#[machine(context = u64)]
enum Order {
    #[initial]
    #[on(ship(limit = *ctx) => Shipped)]
    Placed,

    #[terminal]
    Shipped { limit: u64 },
}

fn main() {
    let _shipped = Order::new(7).ship();
}
