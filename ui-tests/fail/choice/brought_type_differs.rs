// M0109: one item is a field of both targets, and the types differ.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(weigh(weight) => if limit > 20 { Heavy } else { Light })]
    Packed { limit: u32 },

    #[terminal]
    Heavy { weight: u64 },

    #[terminal]
    Light { weight: u32 },
}

fn main() {
    let _after = Order::new(20).weigh(7);
}
