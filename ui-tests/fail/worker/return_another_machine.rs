// A handler returns the machine that it was given, not one of another kind.

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

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Invoice {
    #[initial]
    #[on(pay => Paid, by = GraphRunner)]
    Open,
    #[terminal]
    Paid,
}

struct Shop(GraphRunner);

impl Handler for Shop {
    type Machine = AnyOrder;

    async fn handle(&self, order: AnyOrder, _: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        Ok(match order {
            AnyOrder::Placed(_) => Next::to(Invoice::new().pay(&self.0)),
            AnyOrder::Packed(order) => Next::to(order.send(&self.0)),
            AnyOrder::Sent(_) => Next::Wait,
        })
    }
}

fn main() {}
