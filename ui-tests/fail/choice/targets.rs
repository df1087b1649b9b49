// Targets of choices. Triggers are named after the mistakes.

use machine::machine;
use order::AfterMisspeltTarget;

#[machine(on(override_of_a_group(paid: bool) => if paid { Shipped } else { Lost }, from = Open))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(pack => Packed)]
    // M0104
    #[on(misspelt_target => if failures > 3 { Lost } else { Shiped })]
    #[on(plain_from_another_state(paid: bool) => if paid { Shipped } else { Lost })]
    #[on(self_from_another_state => if failures < 3 { Placed } else { Lost })]
    Placed { failures: u32 },

    #[group(Open)]
    // M0119: a state that overrides its group's choice keeps the targets.
    #[on(override_of_a_group(paid: bool) => if paid { Shipped } else { Returned })]
    // M0119: a choice from one state is a choice from every state.
    #[on(plain_from_another_state(paid: bool) => Shipped)]
    // M0119: `Self` is another state there.
    #[on(self_from_another_state => if failures < 3 { Self } else { Lost })]
    Packed { failures: u32 },

    #[terminal]
    Shipped,

    #[terminal]
    Lost,

    #[terminal]
    Returned,
}

fn main() {
    match Order::new(20).misspelt_target() {
        AfterMisspeltTarget::Lost(lost) => {
            assert_eq!(AnyOrder::from(lost).status(), order::Status::Lost);
        }
        after => drop(AnyOrder::from(after)),
    }
    let _after = Order::new(0).override_of_a_group(true);
    let _after = Order::new(0).pack().override_of_a_group(false);
    let _after = Order::new(0).plain_from_another_state(true);
    let _after = Order::new(0).pack().plain_from_another_state(false);
    let _after = Order::new(0).self_from_another_state();
    let _after = Order::new(0).pack().self_from_another_state();
}
