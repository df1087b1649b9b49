// An actor of a state outside the group is not an actor of the group.

use machine::actor::{Actors, GraphRunner, ToolNode};
use machine::machine;

#[machine(on(cancel => Cancelled, from = Active, by = GraphRunner))]
enum Turn {
    #[initial]
    #[on(go => Running)]
    #[on(cancel => Cancelled, by = ToolNode)]
    Idle,

    #[group(Active)]
    Running,

    #[terminal]
    Cancelled,
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    let _cancelled = Turn::new().go().cancel(&actors.tool_node);
}
