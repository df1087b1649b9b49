// Names that generated code or another part of the declaration has.

use machine::actor::{Actors, ToolNode};
use machine::machine;
use serde::{Deserialize, Serialize};

#[machine]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(weigh(weight: u32) => if weight > 20 { AfterWeigh } else { MayShip })]
    Placed { cents: u64, balance: u64 },

    // M0010: a choice declares an enum of this name.
    #[on(go_on(text) => String)]
    AfterWeigh,

    // M0010: a trigger with actors declares a trait of this name.
    #[on(ship => Shipped, by = ToolNode)]
    MayShip,

    #[terminal]
    String {
        // M0125: the state has the name of the type.
        text: String,
    },

    #[terminal]
    Shipped,
}

#[machine]
#[derive(Debug, Serialize, Deserialize)]
enum Walk {
    #[initial]
    #[on(go_on => Walking)]
    // M0105: `r#go_on` is another way to write `go_on`.
    #[on(r#go_on => Walking)]
    // M0008: a serialized event has its name under `trigger`.
    #[on(reserved_item(trigger: u64) => Walking)]
    // M0117: the name is ambiguous in the expression as well, which is not reported.
    #[on(noted_is_a_field(steps: u64, total = total + steps) => Self)]
    // M0010: the module has an enum of this name.
    #[group(Status)]
    Standing { steps: u64, total: u64 },

    #[group(Status)]
    // M0116: both events would be named `GoOn`.
    #[on(go__on(steps = 0, total = 0) => Standing)]
    Walking,
}

// M0013: the erased machine would have the name of the trait of every state.
#[machine]
enum State {
    #[initial]
    #[on(turn => Off)]
    On,

    #[on(turn => On)]
    Off,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Word {
    #[initial]
    #[on(say => AnyWord)]
    Read,

    // M0010: the erased machine has this name.
    #[terminal]
    AnyWord,
}

#[machine]
#[derive(Debug, Serialize, Deserialize)]
enum Letter {
    #[initial]
    #[on(send => Letter)]
    Paper,

    // M0010: the typed machine has this name.
    #[terminal]
    Letter,
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    let _any = AnyOrder::from(Order::new(7, 100).weigh(7));
    match AnyOrder::from(Order::new(7, 100)) {
        AnyOrder::AfterWeigh(heavy) => drop(heavy.go_on("too heavy".to_owned())),
        AnyOrder::MayShip(light) => drop(light.ship(&actors.tool_node)),
        _ => {}
    }
    let _walking = Walk::new(0, 0).reserved_item(7);
    assert_eq!(Walk::new(7, 100).noted_is_a_field(5).state().total, 105);
    let standing = Walk::new(0, 0).go_on().go__on();
    assert_eq!(AnyWalk::from(standing).status(), walk::Status::Standing);
    let _any = (AnyWord::from(Word::new().say()), AnyLetter::from(Letter::new().send()));
}
