// A worker drives stored machines, so they must be durable.

use machine::actor::GraphRunner;
use machine::machine;
use machine::worker::{Failure, Handler, Next, Task};

#[machine]
#[derive(serde::Serialize, serde::Deserialize)]
enum Order {
    #[initial]
    #[on(pack => Packed, by = GraphRunner)]
    Placed,
    #[terminal]
    Packed,
}

struct Shop;

impl Handler for Shop {
    type Machine = AnyOrder;

    async fn handle(&self, _: AnyOrder, _: &mut Task) -> Result<Next<AnyOrder>, Failure> {
        Ok(Next::Wait)
    }
}

fn main() {}
