// Handlers and messages. Functions and types are named after the mistakes.

use std::rc::Rc;

use machine::actor::GraphRunner;
use machine::machine;
use machine::store::{InvalidMessage, Message};
use machine::worker::{Handled, Handler, Next, Task, Worker};
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

#[machine]
#[derive(Serialize, Deserialize)]
enum Invoice {
    #[initial]
    #[on(pay => Paid)]
    Open,
    #[terminal]
    Paid,
}

struct HandlerIsNotSend;

impl Handler for HandlerIsNotSend {
    type Machine = AnyOrder;

    // A worker moves handlers between threads, so they hold nothing across an `.await` that cannot move.
    async fn handle(&self, _: AnyOrder, task: &mut Task) -> Handled<AnyOrder> {
        let wait = Rc::new(Next::Wait);
        task.children::<AnyOrder>().await?;
        Ok(Rc::into_inner(wait).unwrap_or(Next::Wait))
    }
}

struct MachineIsNotDurable;

impl Handler for MachineIsNotDurable {
    // A worker drives stored machines, so they must be durable.
    type Machine = AnyInvoice;

    async fn handle(&self, _: AnyInvoice, _: &mut Task) -> Handled<AnyInvoice> {
        Ok(Next::Wait)
    }
}

// A handler makes legal moves only.
fn illegal_next(placed: Order<order::Placed>, by: &GraphRunner) -> Next<AnyOrder> {
    Next::to(placed.send(by))
}

// A new state needs an arm in the handler.
fn new_state_without_an_arm(order: AnyOrder, by: &GraphRunner) -> Next<AnyOrder> {
    match order {
        AnyOrder::Placed(order) => Next::to(order.pack(by)),
        AnyOrder::Sent(_) => Next::Wait,
    }
}

// A handler returns the machine that it was given, not one of another kind.
fn another_machine(open: Invoice<invoice::Open>) -> Next<AnyOrder> {
    Next::to(open.pay())
}

// `Worker::handler` takes a type that handles the states of a machine.
fn not_a_handler(worker: Worker, shop: GraphRunner) -> Worker {
    worker.handler(shop)
}

// A message is from an actor.
fn message_without_an_actor(stranger: &str) -> Result<Message, InvalidMessage> {
    Message::from_json(r#"{"trigger": "confirm"}"#, &stranger)
}

fn main() {}
