// M0104: in a branch of a choice.

use machine::machine;
use order::AfterShip;

#[machine]
enum Order {
    #[initial]
    #[on(ship(weight: u32) => if weight > limit { Refused } else { Shiped })]
    Packed { limit: u32 },

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    match Order::new(20).ship(7) {
        AfterShip::Refused(refused) => {
            assert_eq!(AnyOrder::from(refused).status(), order::Status::Refused);
        }
        after => drop(AnyOrder::from(after)),
    }
}
