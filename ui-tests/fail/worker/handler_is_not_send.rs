// A worker moves handlers between threads, so they hold nothing across an `.await` that cannot move.

use std::rc::Rc;

use machine::actor::GraphRunner;
use machine::machine;
use machine::worker::{Failure, Handler, Next, Task};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(pack => Packed, by = GraphRunner)]
    Placed,
    #[on(send => Sent, by = GraphRunner)]
    Packed,
    #[terminal]
    Sent,
}

struct Shop;

impl Handler for Shop {
    type Machine = AnyOrder;

    async fn handle(&self, _: AnyOrder, task: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        let wait = Rc::new(Next::Wait);
        task.children().await?;
        Ok(Rc::into_inner(wait).unwrap_or(Next::Wait))
    }
}

fn main() {}
