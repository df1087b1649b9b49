// Names of types and traits that items of the machine's module have. Each machine is named after the item.

use std::fmt::Debug;

use machine::actor::{Actors, ToolNode};
use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event(u8);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status(u8);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handle(u8);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HasGoal(u8);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MayGo(u8);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AfterGo(u8);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Active(u8);

impl Active {
    fn is_open(_: &guard_of_a_group::Begun) -> Result<(), String> {
        Ok(())
    }
}

pub trait Priced {}

impl Priced for u8 {}

// M0125: the events of the machine are an enum of this name.
#[machine(fields(last: Event, in = Heard))]
#[derive(Debug)]
enum Events {
    #[initial]
    #[on(hear(last) => Heard)]
    Silent,

    #[on(forget => Silent)]
    Heard,
}

#[machine]
#[derive(Debug)]
enum States {
    #[initial]
    #[on(rate(rating) => Rated)]
    Begun,

    #[terminal]
    Rated {
        // M0125: the states of the machine are an enum of this name.
        rating: Status,
    },
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Handlers {
    #[initial]
    #[on(open(file) => Opened)]
    Begun,

    #[terminal]
    Opened {
        // M0125: a durable machine has a trait of this name.
        file: Handle,
    },
}

// M0125: a shared field has a trait of this name.
#[machine(fields(goal: HasGoal))]
#[derive(Debug)]
enum SharedField {
    #[initial]
    #[on(go => Gone)]
    Begun,

    #[terminal]
    Gone,
}

#[machine]
#[derive(Debug)]
enum Permission {
    #[initial]
    // M0125: a trigger with actors has a trait of this name.
    #[on(go(pass: MayGo) => Gone, by = ToolNode)]
    Begun,

    #[terminal]
    Gone,
}

#[machine]
#[derive(Debug)]
enum Choice {
    #[initial]
    // M0125: a choice has an enum of this name.
    #[on(go(plan: AfterGo) => if plan.0 > 1 { Gone } else { Self })]
    Begun,

    #[terminal]
    Gone,
}

#[machine(on(stop => Stopped, from = Active))]
#[derive(Debug)]
enum Group {
    #[initial]
    #[group(Active)]
    #[on(go(task) => Gone)]
    Begun,

    #[group(Active)]
    Gone {
        // M0125: the group has a trait of this name.
        task: Active,
    },

    #[terminal]
    Stopped,
}

#[machine(on(stop => Stopped, from = Active))]
#[derive(Debug)]
enum GuardOfAGroup {
    #[initial]
    #[group(Active)]
    // M0125: the function is that of a type, and the group has a trait of this name.
    #[on(go => Gone, guard = Active::is_open -> String)]
    Begun,

    #[group(Active)]
    Gone,

    #[terminal]
    Stopped,
}

// M0125: the trait of the group is not the one that is meant.
#[machine(on(stop => Stopped, from = Priced))]
#[derive(Debug)]
enum BoundOfAGroup<T: Priced + Debug> {
    #[initial]
    #[group(Priced)]
    #[on(go(price) => Gone)]
    Begun,

    #[group(Priced)]
    Gone { price: T },

    #[terminal]
    Stopped,
}

// M0125: the struct of the state is not the trait that is meant.
#[machine]
#[derive(Debug)]
enum BoundOfAState<T: Priced + Debug> {
    #[initial]
    #[on(go(price) => Priced)]
    Begun,

    #[terminal]
    Priced { price: T },
}

#[machine]
#[derive(Debug)]
enum ActorOfAState {
    #[initial]
    // M0125: the struct of the state is not the actor that is meant.
    #[on(go => ToolNode, by = ToolNode)]
    Begun,

    #[terminal]
    ToolNode,
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    let _heard = Events::new().hear(Event(1)).last().0;
    let _rating = States::new().rate(Status(1)).state().rating.0;
    let _opened = Handlers::new().open(Handle(1));
    let _gone = SharedField::new(HasGoal(1)).go();
    let _gone = Permission::new().go(MayGo(1), &actors.tool_node);
    let _gone = Choice::new().go(AfterGo(2));
    let _stopped = Group::new().go(Active(1)).stop();
    let _gone = GuardOfAGroup::new().go();
    let _stopped = BoundOfAGroup::new().go(3_u8).stop();
    let _gone = BoundOfAState::new().go(3_u8);
    let _gone = ActorOfAState::new().go(&actors.tool_node);
}
