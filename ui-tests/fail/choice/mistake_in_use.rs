// M0104: the outcome of the choice is still an enum with its other variants.

use machine::machine;
use order::{AfterConfirm, AfterShip};

#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Yes,
    No,
}

fn is_heavy(weight: u32) -> bool {
    weight > 20
}

#[machine(on(confirm(answer: Answer) => match answer {
    Answer::Yes => Self,
    Answer::No => Canceled,
}, from = Open))]
#[derive(Debug, Clone, PartialEq)]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(ship(weight: u32) => if is_heavy(weight) { Refused(weight) } else { Shipped })]
    Placed { customer: String },

    #[group(Open)]
    Refused { customer: String, weight: u32 },

    #[terminal]
    Shipped { customer: String },

    #[terminal]
    Cancelled,
}

fn main() {
    let placed = match Order::new("Ann".to_owned()).confirm(Answer::Yes) {
        AfterConfirm::Same(placed) => placed,
        other => return drop(AnyOrder::from(other)),
    };
    match placed.ship(7) {
        AfterShip::Refused(refused) => assert_eq!(refused.state().weight, 7),
        AfterShip::Shipped(shipped) => {
            let mut any = AnyOrder::from(shipped);
            let refused = any.apply_mut(order::Event::Confirm { answer: Answer::No });
            assert!(refused.is_err());
        }
    }
}
