// M0107: the field is one of the second target.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship(carier) => if limit > 20 { Refused } else { Shipped })]
    Packed { limit: u32 },

    #[terminal]
    Refused,

    #[terminal]
    Shipped { carrier: String },
}

fn main() {
    let _after = Order::new(20).ship("mail".to_owned());
}
