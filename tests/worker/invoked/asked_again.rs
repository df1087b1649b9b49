//! A call in doubt that did not take effect: nobody refused it, so its machine asks for it again.

use std::time::Duration;

use machine::{
    Id,
    contract::{CallError, Tool},
    machine,
    testing::{Reply, TestEnvironment, TestTool},
};
use machine_tests::{actors::ann, approve};
use serde::{Deserialize, Serialize};

use super::orders::{gate_of, is_clean};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.refund, irreversible, identity = order, settling_time = Duration::ZERO)]
struct Refund {
    order: u32,
    cents: u32,
}

/// The claim of the guide.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Claim {
    #[initial]
    #[invoke(refund, approve, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) =>
        match why { CallError::NotApplied(_) => Asked, why => Refused(why) })]
    Asked { refund: Refund },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Refused { why: CallError },
}

fn desk(bank: &TestTool<Refund>) -> TestEnvironment {
    let bank = bank.clone();
    TestEnvironment::new(move |worker| worker.machine::<AnyClaim>().tool(bank.clone()))
}

/// A person approves the newest call of a claim, and the worker makes it. Returns the call.
async fn approved(desk: &TestEnvironment, claim: Id) -> Id {
    let store = desk.store();
    let call = store.children(claim).await.unwrap().pop().unwrap().id;
    approve(store, gate_of(store, call).await, ann()).await.unwrap();
    desk.run_until_idle().await;
    call
}

/// A claim whose approved call ended with this reply.
async fn answered(bank: &TestTool<Refund>) -> (TestEnvironment, Id, Id) {
    let desk = desk(bank);
    let claim = desk.create(Claim::new(Refund { order: 17, cents: 500 })).await;
    let call = approved(&desk, claim).await;
    (desk, claim, call)
}

/// The claim asks once more, and a second approval pays it.
async fn is_paid_after_a_new_question(desk: &TestEnvironment, claim: Id, first: Id) {
    // The service may be asked again only later.
    for _ in 0..3 {
        desk.run_until_idle().await;
        desk.advance(Duration::from_mins(1)).await;
    }
    let waits: AnyClaim = desk.load(claim).await;
    assert_eq!(waits.status(), claim::Status::Asked);
    assert_eq!(desk.store().children(claim).await.unwrap().len(), 2);
    assert_ne!(approved(desk, claim).await, first);
    let AnyClaim::Paid(paid) = desk.load(claim).await else { panic!("it is not paid") };
    assert_eq!(paid.state().receipt, "transfer 7");
    is_clean(desk).await;
}

fn interrupted() -> TestTool<Refund> {
    let cut_off = Reply::unknown("the line went dead");
    TestTool::<Refund>::new().replies(cut_off).replies(Reply::applied("transfer 7"))
}

#[tokio::test(start_paused = true)]
async fn after_the_service_was_asked() {
    let bank = interrupted().finds(Reply::refused("no such transfer"));
    let (desk, claim, call) = answered(&bank).await;
    is_paid_after_a_new_question(&desk, claim, call).await;
    assert_eq!(bank.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn after_a_person_looked() {
    let bank = interrupted();
    let (desk, claim, call) = answered(&bank).await;
    let doubt = desk.store().in_doubt(call).await.unwrap();
    let said = desk.store().confirm_not_applied(doubt, "no transfer at the bank", ann()).await;
    drop(said.unwrap());
    is_paid_after_a_new_question(&desk, claim, call).await;
    assert_eq!(bank.calls().len(), 2);
}

/// Nothing is proven, so nothing is asked for again.
#[tokio::test(start_paused = true)]
async fn not_after_an_override() {
    let (desk, claim, call) = answered(&interrupted()).await;
    let doubt = desk.store().in_doubt(call).await.unwrap();
    drop(desk.store().override_not_applied(doubt, "it is late", ann()).await.unwrap());
    desk.run_until_idle().await;
    let AnyClaim::Refused(refused) = desk.load(claim).await else { panic!("it was asked again") };
    let by_ann =
        CallError::Cancelled { by: Some("ann".to_owned()), reason: "it is late".to_owned() };
    assert_eq!(refused.state().why, by_ann);
    is_clean(&desk).await;
}

#[tokio::test(start_paused = true)]
async fn not_after_a_refusal() {
    let bank = TestTool::<Refund>::new().replies(Reply::refused("no money"));
    let (desk, claim, _) = answered(&bank).await;
    let AnyClaim::Refused(refused) = desk.load(claim).await else { panic!("it was asked again") };
    assert_eq!(refused.state().why, CallError::Refused("no money".to_owned()));
    is_clean(&desk).await;
}
