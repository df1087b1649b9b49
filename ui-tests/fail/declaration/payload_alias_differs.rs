// M0106: types that are written differently are compared by the compiler.

use machine::machine;

type Grams = u32;

#[machine]
enum Order {
    #[initial]
    #[on(weigh(weight: u64) => Packed)]
    Placed,

    #[on(weigh(weight: Grams) => Packed)]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new().weigh(7).ship();
}
