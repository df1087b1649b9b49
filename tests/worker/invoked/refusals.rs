//! Calls that cannot be made, that are made already, and joins that come too late: each is a typed
//! error or an outcome, and nothing is lost.

use std::time::Duration;

use machine::{
    Id,
    actor::{Actors, GraphRunner, Human},
    contract::{CallError, Irreversible, Outcome, Tool},
    effects::EffectError,
    machine,
    store::{CommitError, Delivery},
    testing::{Reply, TestEnvironment, TestTool},
    worker::{Failure, Handler, Next, Task, Worker},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::orders::is_clean;
use bill::{Event, Status};

/// The number of the invoice identifies it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Charge {
    invoice: u32,
    cents: u32,
}

impl Tool for Charge {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "charge";
    type Effect = Irreversible;
    type Receipt = String;
    type Refusal = String;

    fn identity(&self) -> Option<Value> {
        Some(self.invoice.into())
    }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Bill {
    #[initial]
    #[on(pay(charge) => Paying, by = Human)]
    #[on(split(parts) => Splitting, by = Human)]
    Open,
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    #[on(pause => Paused, by = Human, detach)]
    #[on(again => Paying, by = Human)]
    Paying { charge: Charge },
    #[invoke(parts: [Charge] = charges(&parts), session = session_of(&parts), done = all)]
    #[on(all(outcomes) => Settled)]
    Splitting { parts: Vec<u32> },
    #[on(pay(charge) => Paying, by = Human)]
    Paused,
    #[on(pay(charge) => Paying, by = Human)]
    #[on(close => Closed, by = Human)]
    Unpaid { why: CallError },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Settled { outcomes: Vec<Outcome<Charge>> },
    #[terminal]
    Closed,
}

fn charges(parts: &[u32]) -> Vec<Charge> {
    let charge = |part: &u32| {
        assert!(*part != 13, "unlucky");
        Charge { invoice: *part, cents: 100 }
    };
    parts.iter().map(charge).collect()
}

fn session_of(parts: &[u32]) -> String {
    if parts.contains(&14) { "s".repeat(257) } else { "bills".to_owned() }
}

fn shop(bank: &TestTool<Charge>) -> TestEnvironment {
    let bank = bank.clone();
    TestEnvironment::new(move |worker| worker.machine::<AnyBill>().tool(bank.clone()))
}

fn bank() -> TestTool<Charge> {
    TestTool::new().otherwise(Reply::applied("receipt"))
}

async fn billed(shop: &TestEnvironment, event: &Event) -> Id {
    let bill = shop.create(AnyBill::from(Bill::new())).await;
    send(shop, bill, event).await;
    bill
}

async fn send(shop: &TestEnvironment, bill: Id, event: &Event) {
    shop.send(bill, event, &shop.person("ann")).await;
    shop.run_until_idle().await;
}

async fn status(shop: &TestEnvironment, bill: Id) -> Status {
    shop.load::<AnyBill>(bill).await.status()
}

/// The calls of a commit with these parts are not made, for this reason.
async fn not_invoked(shop: &TestEnvironment, parts: Vec<u32>, why: &str) {
    let bill = shop.create(AnyBill::from(Bill::new())).await;
    let AnyBill::Open(open) = shop.load(bill).await else { panic!("it is open") };
    let mut splitting = open.split(parts, &shop.person("ann"));
    let refused = shop.store().commit(&mut splitting).await.unwrap_err();
    let EffectError::NotInvoked { id, state, reason } = refused else { panic!("{refused}") };
    assert_eq!((id, &*state), (bill, "splitting"));
    assert_eq!(status(shop, bill).await, Status::Open);
    assert!(shop.store().children(bill).await.unwrap().is_empty());
    is_clean(shop).await;
    assert_eq!(reason, why);
}

#[tokio::test(start_paused = true)]
async fn calls_that_cannot_be_made_change_nothing() {
    let shop = shop(&bank());
    let session = "option `session`: the id of its session has 257 bytes, more than 256; use a \
                   shorter one";
    not_invoked(&shop, vec![1, 13], "their expression panicked: unlucky").await;
    not_invoked(&shop, vec![1, 14], session).await;
    not_invoked(&shop, (100..357).collect(), "there are 257 of them, the limit is 256").await;
    let mut most = Bill::new().split((100..356).collect(), &shop.person("ann"));
    shop.store().create(&mut most).await.unwrap();
    assert_eq!(shop.store().children(most.id()).await.unwrap().len(), 256);
}

/// The message that caused it is set aside, and the next one is taken.
#[tokio::test(start_paused = true)]
async fn a_message_whose_calls_cannot_be_made_is_set_aside() {
    let shop = shop(&bank());
    let bill = billed(&shop, &Event::Split { parts: vec![13] }).await;
    assert_eq!(status(&shop, bill).await, Status::Open);
    let message = shop.store().inbox(bill).await.unwrap().remove(0).unwrap();
    assert_eq!(message.status, Delivery::SetAside);
    assert!(message.error.as_deref().unwrap().contains("panicked: unlucky"), "{message:?}");
    send(&shop, bill, &Event::Split { parts: vec![1] }).await;
    assert_eq!(status(&shop, bill).await, Status::Settled);
    assert!(shop.store().verify_all(|_| {}).await.unwrap().is_clean());
}

/// Of two equal members one is made; the other waits for it, and is not made again.
#[tokio::test(start_paused = true)]
async fn of_two_equal_calls_of_a_set_one_is_made() {
    let refused = Reply::refused("no money");
    for (bank, calls) in [(bank(), 1), (TestTool::new().otherwise(refused), 2)] {
        let shop = shop(&bank);
        let bill = billed(&shop, &Event::Split { parts: vec![5, 5] }).await;
        // The call whose key was held looks again.
        shop.advance(Duration::from_mins(1)).await;
        shop.run_until_idle().await;
        let AnyBill::Settled(settled) = shop.load(bill).await else { panic!("{calls}") };
        let outcomes = &settled.state().outcomes;
        let expected = if calls == 1 {
            // Either may be first: both are ready at once.
            let made = outcomes.iter().position(Result::is_ok).unwrap();
            let by = shop.store().children(bill).await.unwrap()[made].id;
            let mut expected = [(); 2].map(|()| Err(CallError::AlreadyDone { by }));
            expected[made] = Ok("receipt".to_owned());
            expected
        } else {
            [1, 2].map(|_| Err(CallError::Refused("no money".to_owned())))
        };
        assert_eq!((&**outcomes, bank.calls().len()), (&expected[..], calls));
        is_clean(&shop).await;
    }
}

/// The same invoice with another amount is not charged: whether another bill has paid it, or an own
/// call is in doubt.
#[tokio::test(start_paused = true)]
async fn a_key_that_another_action_has_is_an_outcome() {
    let pay = |cents| Event::Pay { charge: Charge { invoice: 7, cents } };
    let bank = bank();
    let shop = shop(&bank);
    let (first, second) = (billed(&shop, &pay(100)).await, billed(&shop, &pay(200)).await);
    let by = shop.store().children(first).await.unwrap()[0].id;
    let AnyBill::Unpaid(unpaid) = shop.load(second).await else { panic!("it is unpaid") };
    assert_eq!(unpaid.state().why, CallError::Differs { by });
    assert_eq!(bank.calls().len(), 1);
    is_clean(&shop).await;

    let bank = TestTool::<Charge>::new().replies(Reply::unknown("the line went dead"));
    let shop = self::shop(&bank);
    let bill = billed(&shop, &pay(100)).await;
    let by = shop.store().children(bill).await.unwrap()[0].id;
    send(&shop, bill, &Event::Pause).await;
    send(&shop, bill, &pay(200)).await;
    let AnyBill::Unpaid(unpaid) = shop.load(bill).await else { panic!("it is unpaid") };
    assert_eq!(unpaid.state().why, CallError::Differs { by });
    // It ends only when it is known whether the first call took effect.
    let refused = shop.store().commit(&mut unpaid.close(&shop.person("ann"))).await.unwrap_err();
    assert!(
        matches!(refused, EffectError::Commit(CommitError::UnderWay { call, .. }) if call == by),
        "{refused}"
    );
    assert_eq!(bank.calls().len(), 1);
    is_clean(&shop).await;
}

/// A program read the bill before the outcome was taken, and enters the state again after that.
#[tokio::test(start_paused = true)]
async fn a_join_that_comes_after_the_outcome_is_a_conflict() {
    let bank = bank();
    let shop = shop(&bank);
    let bill = shop.create(AnyBill::from(Bill::new())).await;
    let AnyBill::Open(open) = shop.load(bill).await else { panic!("it is open") };
    let mut paying = open.pay(Charge { invoice: 7, cents: 100 }, &shop.person("ann"));
    shop.store().commit(&mut paying).await.unwrap();
    // The call ends, and its outcome waits.
    let actors = Actors::issue("bank").unwrap();
    Worker::new(shop.store(), actors).tool(bank.clone()).run_until_idle().await.unwrap();
    let call = shop.store().children(bill).await.unwrap().remove(0);
    assert!(call.has_ended);
    let mut again = paying.again(&shop.person("ann"));
    shop.run_until_idle().await;
    assert_eq!(status(&shop, bill).await, Status::Paid);
    let refused = shop.store().commit(&mut again).await.unwrap_err();
    assert!(
        matches!(refused, EffectError::Commit(CommitError::Conflict { id }) if id == bill),
        "{refused}"
    );
    assert_eq!(shop.store().children(bill).await.unwrap(), [call]);
    is_clean(&shop).await;
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Slow {
    #[initial]
    #[on(pay(charge, tries = 0) => Paying, by = Human)]
    Open,
    #[invoke(charge)]
    #[on(finish(outcome) => Finished, by = GraphRunner)]
    #[on(again(tries = tries + 1) => Paying, by = Human)]
    Paying { charge: Charge, tries: u32 },
    #[terminal]
    Finished { outcome: Outcome<Charge>, tries: u32 },
}

/// It is about to take an outcome when another program enters the state again.
struct Interrupted;

impl Handler for Interrupted {
    type Machine = AnySlow;

    async fn handle(&self, slow: AnySlow, task: &mut Task) -> Result<Next<AnySlow>, Failure> {
        let AnySlow::Paying(paying) = slow else { return Ok(Next::Wait) };
        let Some(outcome) = task.outcome::<Charge>()? else { return Ok(Next::Wait) };
        if paying.state().tries == 0 {
            let store = task.store();
            let AnySlow::Paying(same) = store.load(task.id()).await? else { return Ok(Next::Wait) };
            store.commit(&mut same.again(&Human::new("ann")?)).await?;
        }
        Ok(Next::to(paying.finish(outcome, &task.actors().graph_runner)))
    }
}

/// The outcome belongs to the entry that joined the call meanwhile.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_taken_after_a_join_is_that_of_the_next_entry() {
    let bank = bank();
    let service = bank.clone();
    let shop =
        TestEnvironment::new(move |worker| worker.handler(Interrupted).tool(service.clone()));
    let slow = shop.create(AnySlow::from(Slow::new())).await;
    let pay = slow::Event::Pay { charge: Charge { invoice: 7, cents: 100 } };
    shop.send(slow, &pay, &shop.person("ann")).await;
    shop.run_until_idle().await;
    let AnySlow::Finished(finished) = shop.load(slow).await else { panic!("it is finished") };
    let slow::Finished { outcome, tries } = finished.state();
    assert_eq!((outcome, *tries), (&Ok("receipt".to_owned()), 1));
    assert_eq!(bank.calls().len(), 1);
    is_clean(&shop).await;
}
