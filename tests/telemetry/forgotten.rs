//! A call whose tool the worker of its machine does not have.

use std::sync::{Arc, Mutex};

use machine::{
    actor::Actors,
    contract::{Answer, Applied, Call, CallError, Perform, Tool},
    machine,
    store::{Cause, Store},
    worker::Worker,
};
use serde::{Deserialize, Serialize};

use crate::capture::captured;

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.pay, idempotent)]
struct Pay {
    cents: u32,
}

#[machine(durable)]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Bill {
    #[initial]
    #[invoke(pay, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { pay: Pay },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
}

struct Bank;

impl Perform<Pay> for Bank {
    async fn perform(&self, call: &Call<Pay>) -> Answer {
        Ok(Applied::new(format!("{} cents", call.arguments.cents)))
    }
}

/// Without a log and without a callback, nothing says why the bill is not paid.
#[test]
fn a_worker_that_ends_names_the_tool_that_it_lacks() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let ((), reports) = captured(async {
        let store = Store::memory();
        store.create(&mut Bill::new(Pay { cents: 5 })).await.unwrap();
        let worker = || {
            let told = Arc::clone(&told);
            let worker = Worker::new(&store, Actors::issue("till").unwrap()).machine::<AnyBill>();
            worker.on_error(move |failed| {
                assert_eq!((failed.kind, failed.state), ("execution", Some("pending")));
                assert_eq!((failed.cause, failed.set_aside), (Cause::NoTool, false));
                told.lock().unwrap().push(failed.error.to_owned());
            })
        };
        worker().run_until_idle().await.unwrap();
        // The second one has the tool, and the third one has nothing to do.
        worker().tool(Bank).run_until_idle().await.unwrap();
        worker().run_until_idle().await.unwrap();
    });
    let undriven = reports.iter().filter(|it| it.name == "machine.worker.undriven");
    let lacks: Vec<_> = undriven.map(|it| it.get("machine.worker.needed.name")).collect();
    assert_eq!(lacks, ["bank.pay"]);
    let told = told.lock().unwrap();
    let [error] = &told[..] else { panic!("{told:?}") };
    assert!(error.starts_with("no live worker has the tool `bank.pay`: start"), "{error}");
}
