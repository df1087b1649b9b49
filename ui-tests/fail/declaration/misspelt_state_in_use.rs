// M0104: one mistake makes one error, however the program uses the machine.

use machine::actor::{Actor, Actors, ToolNode};
use machine::machine;
use machine::stored::{Context, Durable, Unverified, VerifyError};
use machine::typed::{Illegal, State};
use machine::worker::{Handled, Next, Task, Worker};
use order::{Event, MayShip, Status};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Customer {
    name: String,
}

impl Context for Customer {
    type Summary = ();
}

#[machine(durable, context = Customer)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(pack => Paked)]
    Placed { items: u32 },

    #[stable]
    #[on(ship(parcel, note: String) => Shipped, by = ToolNode)]
    Packed { items: u32 },

    #[terminal]
    Shipped { items: u32, parcel: u64 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    status: Status,
    event: Event,
}

fn ship<A: Actor + MayShip<order::Packed>>(order: Order<order::Packed>, by: &A) -> AnyOrder {
    order.ship(7, "fragile".into(), by).into()
}

fn store(order: &impl Durable) -> usize {
    order.journal().uncommitted().len() + order.state_index()
}

fn at_run_time(mut order: AnyOrder, by: &ToolNode) -> Result<AnyOrder, Illegal> {
    order.apply_mut(Event::Pack, by)?;
    let event = Event::Ship { parcel: 7, note: "fragile".to_owned() };
    order.apply(event, by).map_err(|refused| refused.reason)
}

fn restore(claim: Unverified, by: &ToolNode) -> Result<Order<order::Shipped>, VerifyError> {
    match claim.verify()? {
        AnyOrder::Placed(order) => Ok(order.pack().ship(7, "fragile".into(), by)),
        AnyOrder::Packed(order) => Ok(order.ship(7, "fragile".into(), by)),
        AnyOrder::Shipped(order) => Ok(order),
    }
}

struct Shop;

impl order::Handle for Shop {
    async fn placed(&self, order: Order<order::Placed>, _: &mut Task) -> Handled<AnyOrder> {
        Ok(Next::to(order.pack()))
    }
}

fn drive(worker: Worker) -> Worker {
    worker.handler(order::Driver(Shop)).machine::<AnyOrder>()
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    let placed = Order::new(Customer { name: "Bob".to_owned() }, 3);
    assert_eq!(placed.state().clone(), order::Placed { items: 3 });
    assert_eq!(placed.context().name, "Bob");
    println!("{:?} {} {}", placed, placed.id(), store(&placed));

    let any = at_run_time(AnyOrder::from(placed), &actors.tool_node).unwrap();
    assert_eq!(any.status(), "shipped".parse().unwrap());
    assert!(Status::ALL.iter().all(|status| !status.to_string().is_empty()));
    let row = Row { status: any.status(), event: Event::Pack };
    assert_eq!(row.event.trigger(), order::DEFINITION.edges[0].trigger);
    let packed = order::Packed::narrow(any).unwrap();
    let claim = Unverified::of(&ship(packed, &actors.tool_node)).unwrap();
    let shipped = restore(claim, &actors.tool_node).unwrap();
    assert_eq!(shipped.state().parcel, 7);
}
