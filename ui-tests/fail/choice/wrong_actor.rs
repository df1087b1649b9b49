// A choice checks its actor as any transition does.

use machine::actor::{Actor, Actors, Category};
use machine::machine;

struct User;

impl Actor for User {
    const KIND: &'static str = "user";
    const CATEGORY: Category = Category::Human;
}

#[machine]
enum Order {
    #[initial]
    #[on(confirm(yes: bool) => if yes { Confirmed } else { Cancelled }, by = User)]
    Placed,

    #[terminal]
    Confirmed,

    #[terminal]
    Cancelled,
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    let _after = Order::new().confirm(true, &User);
    let _after = Order::new().confirm(true, &actors.tool_node);
}
