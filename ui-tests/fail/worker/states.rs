// Handlers of the states of a machine. Functions and types are named after the mistakes.

use machine::actor::{GraphRunner, Human};
use machine::contract::{Outcome, Tool};
use machine::machine;
use machine::worker::{Handled, Next, Task, Worker};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, receipt = String)]
struct Charge {
    cents: u32,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(pack => Packed, by = GraphRunner)]
    Placed,
    #[stable]
    #[on(pay(charge) => Paying, by = Human)]
    Packed,
    #[invoke(charge)]
    #[on(accept => Paid, by = GraphRunner)]
    Paying { charge: Charge },
    #[terminal]
    Paid,
}

struct MethodIsMissing;

// A state that asks for something has a method. PACKED asks for nothing, because it is stable.
impl order::Handle for MethodIsMissing {
    async fn paying(
        &self,
        order: Order<order::Paying>,
        _: Outcome<Charge>,
        task: &mut Task,
    ) -> Handled<AnyOrder> {
        Ok(Next::to(order.accept(&task.actors().graph_runner)))
    }
}

struct OutcomeIsMissing;

impl order::Handle for OutcomeIsMissing {
    async fn placed(&self, order: Order<order::Placed>, task: &mut Task) -> Handled<AnyOrder> {
        Ok(Next::to(order.pack(&task.actors().graph_runner)))
    }

    // The method of a state that makes a call gets its outcome.
    async fn paying(&self, order: Order<order::Paying>, task: &mut Task) -> Handled<AnyOrder> {
        Ok(Next::to(order.accept(&task.actors().graph_runner)))
    }
}

struct OtherState;

impl order::Handle for OtherState {
    async fn placed(
        &self,
        // The method of a state gets the machine in this state.
        order: Order<order::Packed>,
        _: &mut Task,
    ) -> Handled<AnyOrder> {
        drop(order);
        Ok(Next::Wait)
    }

    async fn paying(
        &self,
        order: Order<order::Paying>,
        outcome: Outcome<Charge>,
        task: &mut Task,
    ) -> Handled<AnyOrder> {
        outcome?;
        Ok(Next::to(order.accept(&task.actors().graph_runner)))
    }

    // A machine that has ended is not handled.
    async fn paid(&self, _: Order<order::Paid>, _: &mut Task) -> Handled<AnyOrder> {
        Ok(Next::Wait)
    }
}

// `Driver` takes a type that handles the states of the machine.
fn driver_of_no_handler(worker: Worker, runner: GraphRunner) -> Worker {
    worker.handler(order::Driver(runner))
}

// A machine whose states ask for something has a handler.
fn machine_without_a_handler(worker: Worker) -> Worker {
    worker.machine::<AnyOrder>()
}

fn main() {}
