//! The program and the commands of the page about what a person decides.

use machine::{
    actor::Human,
    contract::{CallError, Tool},
    machine,
};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Claim {
    /// A clerk decides whether to pay, and how much.
    #[initial]
    #[stable]
    #[on(accept(refund) => Accepted, by = Human)]
    #[on(reject(reason) => Rejected, by = Human)]
    Filed,
    /// A second person approves exactly this refund.
    #[invoke(refund, approve, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Accepted { refund: Refund },
    #[terminal]
    Rejected { reason: String },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
}

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(bank.refund, irreversible, identity = order)]
struct Refund {
    order: u32,
    cents: u32,
}

// The end of the page's program.

use machine::{
    actor::Actors,
    contract::{Answer, Applied, Call, Perform},
    observe::Observer,
    store::Query,
    worker::Worker,
};

use super::{blocks, in_doubt::run};
use crate::surfaces::Place;

pub(super) const PAGE: &str = include_str!("../../machine/src/docs/decisions.md");

struct Bank;

impl Perform<Refund> for Bank {
    async fn perform(&self, call: &Call<Refund>) -> Answer {
        let Refund { order, cents } = &call.arguments;
        Ok(Applied::new(format!("{cents} for {order}")))
    }
}

async fn work(place: &Place) {
    let actors = Actors::issue("desk").unwrap();
    let worker = Worker::new(&place.store, actors).machine::<AnyClaim>().tool::<Refund>(Bank);
    worker.run_until_idle().await.unwrap();
}

#[test]
fn the_program_is_the_one_that_runs() {
    let source = include_str!("decisions.rs");
    let shown = PAGE.split("```\n").nth(1).unwrap().split("# fn main()").next().unwrap();
    assert!(source.contains(shown), "{shown}");
}

#[tokio::test]
async fn a_clerk_decides_and_another_person_approves() {
    let place = Place::new().await;
    let mut claim = Claim::new();
    place.store.create(&mut claim).await.unwrap();
    let id = claim.id();
    let [commands] = blocks(PAGE, "sh")[..] else { panic!("several blocks") };
    let [send, approve] = *commands.lines().collect::<Vec<_>>() else {
        panic!("not two commands");
    };
    run(&place, send, ["claims.db", "CLAIM"], &id.to_string()).done();
    work(&place).await;
    let asked = Observer::new(&place.store).approvals(&Query::new()).await.unwrap().items;
    let gate = asked[0].gate.to_string();
    run(&place, approve, ["claims.db", "GATE"], &gate).done();
    work(&place).await;
    match place.store.load::<AnyClaim>(id).await.unwrap() {
        AnyClaim::Paid(paid) => assert_eq!(paid.state().receipt, "500 for 17"),
        other => panic!("{other:?}"),
    }
}
