//! The receipt that a person gives for a call in doubt.

use std::time::Duration;

use machine::{
    actor::Actors,
    contract::{Action, CallError, NoReceipt, Tool},
    machine,
    worker::Worker,
};
use machine_tests::{actors::tool_node, samples::answers};
use serde::{Deserialize, Serialize};

use crate::surfaces::Place;

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, receipt = Booking, settling_time = Duration::ZERO)]
struct Charge {
    cents: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Booking {
    number: u64,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Payment {
    #[initial]
    #[invoke(charge: Charge = Charge { cents: 3 }, unattended, done = paid, failed = refused)]
    #[on(paid(booking) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying,
    #[terminal]
    Paid { booking: Booking },
    #[terminal]
    Unpaid { why: CallError },
}

/// A machine could not read an invented text, and would wait for ever.
#[tokio::test]
async fn a_receipt_that_the_machine_could_not_read_is_refused() {
    let place = Place::new().await;
    let mut payment = Payment::new();
    place.store.create(&mut payment).await.unwrap();
    let call = place.store.children(payment.id()).await.unwrap().remove(0).id;
    let planned = place.store.planned::<Action>(call).await.unwrap();
    let unknown = answers(Err(NoReceipt::unknown("connection lost")));
    drop(place.store.perform(planned, unknown, tool_node()).await.unwrap());

    let id = call.to_string();
    let printed = [
        format!("confirm {id} applied --as NAME --receipt '<Booking>'\n"),
        format!("confirm {id} not-applied --as NAME\n"),
    ];
    place.run(&["show", &id]).shows(&[&printed[0], &printed[1]]);
    let confirm = ["confirm", &id, "applied", "--as", "ann", "--yes"];
    for receipt in [&[][..], &["--receipt", "<Booking>"]] {
        let refused = place.run(&[&confirm[..], receipt].concat());
        refused.failed(1, "reads a receipt of the type Booking; pass it as JSON");
        refused.failed(1, printed[0].trim_end());
    }
    place.run(&[&confirm[..], &["--receipt", r#"{"number": 17}"#]].concat()).done();
    let worker = Worker::new(&place.store, Actors::issue("bank").unwrap());
    worker.machine::<AnyPayment>().run_until_idle().await.unwrap();
    let AnyPayment::Paid(paid) = place.store.load(payment.id()).await.unwrap() else {
        panic!("it has not read the receipt")
    };
    assert_eq!(paid.state().booking, Booking { number: 17 });
}
