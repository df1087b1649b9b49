// A handler is for the erased form.

use machine::{
    machine,
    worker::{Handled, Handler, Next, Task},
};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

struct Ships;

impl Handler for Ships {
    type Machine = Order;

    async fn handle(&self, order: Order, _task: &mut Task) -> Handled<Order> {
        Ok(match order {
            AnyOrder::Packed(packed) => Next::to(packed.ship()),
            AnyOrder::Shipped(_) => Next::Wait,
        })
    }
}

fn main() {}
