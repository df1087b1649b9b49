// M0107: an item without a type is a field of at least one target.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(carrier) => if limit > 20 { Refused } else { Shipped })]
    Packed { limit: u32 },

    #[terminal]
    Refused,

    #[terminal]
    Shipped { limit: u32 },
}

fn main() {
    let _after = Order::new(20).ship("mail".to_owned());
}
