//! A process that drives machines with invocations is killed, or frozen and thawed later, at every
//! step. The bank counts the charges.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use machine::{
    Id,
    actor::{Actors, Human},
    contract::{
        Answer, AnyExecution, Applied, Attempt, Call, CallError, NoReceipt, Outcome, Perform, Tool,
    },
    machine,
    store::{Delivery, Message, OpenOptions, Query, Store},
    worker::Worker,
};
use machine_tests::{actors::ann, book, stores::close};
use serde::{Deserialize, Serialize};

use crate::{
    process::{Act, Process, between_commits, orders},
    support::{assert_file_intact, block_on, new_file},
};

/// Where a process is killed or frozen. Those within a transaction are in other tests.
const POINTS: [&str; 4] = ["bank-asked", "bank-charged", "store-commit", "store-committed"];

const LEASE: Duration = Duration::from_millis(150);

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(place(charge) => Paying, by = Human)]
    #[on(place_all(charges, seen = 0) => Buying, by = Human)]
    Cart,
    #[invoke(charge, unattended, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why: CallError) => match why {
        // Nobody refused it, so it is made again.
        CallError::NotApplied(_) => Paying,
        why => Unpaid(why),
    })]
    Paying { charge: Charge },
    #[invoke(charges: [Charge] = charges.clone(), each = one, done = all)]
    #[on(one(outcome: Outcome<Charge>, index: usize, seen = counted(seen, &outcome, index)) => Self)]
    #[on(all(outcomes) => Bought)]
    Buying { charges: Vec<Charge>, seen: usize },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
    #[terminal]
    Bought { outcomes: Vec<Outcome<Charge>>, seen: usize },
}

/// One digit for each outcome.
fn counted(seen: usize, outcome: &Outcome<Charge>, index: usize) -> usize {
    let digit = if outcome.is_ok() { 1 } else { 2 };
    seen + digit * 10_usize.pow(u32::try_from(index).unwrap_or_default())
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(bank.charge, irreversible, settling_time = Duration::ZERO)]
struct Charge {
    cents: u32,
}

/// A bank that is a file. It has nothing for more than 1,000 cents.
struct Bank {
    file: PathBuf,
    /// It can be asked for a charge.
    finds: bool,
}

impl Perform<Charge> for Bank {
    async fn perform(&self, call: &Call<Charge>) -> Answer {
        fail::fail_point!("bank-asked");
        let Charge { cents } = call.arguments;
        if cents > 1000 {
            return Err(NoReceipt::not_applied("no money"));
        }
        book::add(&self.file, &cents)?;
        fail::fail_point!("bank-charged");
        Ok(Applied::new(format!("receipt {cents}")))
    }

    async fn find(&self, attempt: &Attempt<Charge>) -> Answer {
        let cents = attempt.arguments.cents;
        if !self.finds {
            return Err(NoReceipt::unknown("the bank cannot be asked"));
        }
        if book::lines(&self.file).contains(&cents) {
            Ok(Applied::new(format!("receipt {cents}")))
        } else {
            Err(NoReceipt::not_applied("there is no such charge"))
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    order: Id,
    charges: Vec<u32>,
    finds: bool,
    /// The fail point, and how often it is passed before.
    at: Option<(Act, String, usize)>,
}

impl Orders {
    fn bank(&self) -> PathBuf {
        self.file.with_extension("bank")
    }

    fn event(&self) -> order::Event {
        if let [cents] = self.charges[..] {
            return order::Event::Place { charge: Charge { cents } };
        }
        let charges = self.charges.iter().map(|&cents| Charge { cents }).collect();
        order::Event::PlaceAll { charges }
    }
}

async fn open(file: &Path) -> Store {
    OpenOptions::new().machine::<AnyOrder>().machine::<AnyExecution>().sqlite(file).await.unwrap()
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn works() {
    let orders: Orders = orders();
    let store = open(&orders.file).await;
    let order: AnyOrder = store.load(orders.order).await.unwrap();
    if let Some((act, point, before)) = &orders.at {
        act.at(point, *before);
    }
    if matches!(order, AnyOrder::Cart(_)) {
        let place = Message::new(&orders.event(), ann()).unwrap();
        store.send(orders.order, &place.with_correlation("place").unwrap()).await.unwrap();
    }
    Worker::new(&store, Actors::issue("shop").unwrap())
        .machine::<AnyOrder>()
        .tool(Bank { file: orders.bank(), finds: orders.finds })
        .lease(LEASE)
        .run_until_idle()
        .await
        .unwrap();
    close(store).await;
}

fn start(orders: &Orders) -> Process {
    Process::start("invoked::works", orders)
}

/// The file with an order in its cart.
async fn placed(charges: &[u32], finds: bool) -> (tempfile::TempDir, Orders) {
    let (folder, file) = new_file();
    let store = open(&file).await;
    let mut order = Order::new();
    store.create(&mut order).await.unwrap();
    store.close().await.unwrap();
    let charges = charges.to_vec();
    (folder, Orders { file, order: order.id(), charges, finds, at: None })
}

/// The machine says what the bank says, whatever was cut off.
async fn agree(orders: &Orders, has_ended: bool) {
    let store = open(&orders.file).await;
    let order: AnyOrder = store.load(orders.order).await.unwrap();
    let charged: Vec<u32> = book::lines(&orders.bank());
    for cents in &orders.charges {
        let count = charged.iter().filter(|it| *it == cents).count();
        assert!(count <= 1, "{orders:?}: charged twice: {charged:?}");
        let is_there = count == 1;
        match &order {
            AnyOrder::Paid(order) => {
                assert!(is_there && order.state().receipt == format!("receipt {cents}"));
            }
            AnyOrder::Unpaid(order) => {
                assert!(!is_there, "{orders:?}: unpaid and charged");
                assert!(!orders.finds, "{orders:?}: the bank refused nothing: {order:?}");
            }
            AnyOrder::Bought(order) => {
                let index = orders.charges.iter().position(|it| it == cents).unwrap();
                let outcome = &order.state().outcomes[index];
                assert_eq!(outcome.is_ok(), is_there, "{orders:?}: {outcome:?}");
            }
            AnyOrder::Cart(_) | AnyOrder::Paying(_) | AnyOrder::Buying(_) => {
                assert!(!has_ended, "{orders:?}: it did not end: {order:?}");
            }
        }
    }
    if let AnyOrder::Bought(order) = &order {
        let mut seen = 0;
        for (index, outcome) in order.state().outcomes.iter().enumerate() {
            seen = counted(seen, outcome, index);
        }
        assert_eq!(order.state().seen, seen, "each outcome is taken once");
    }
    let calls = store.children(orders.order).await.unwrap();
    let is_placed = !matches!(order, AnyOrder::Cart(_));
    let made = if is_placed { orders.charges.len() } else { 0 };
    // One that did not take effect is made again.
    let again = usize::from(orders.finds && made == 1);
    assert!((made..=made + again).contains(&calls.len()), "{calls:?}");
    if has_ended {
        assert!(calls.iter().all(|call| call.has_ended), "{calls:?}");
        let inbox = store.inbox(orders.order).await.unwrap();
        let handled = |it: &Result<machine::store::Received, _>| {
            it.as_ref().is_ok_and(|it| it.status == Delivery::Handled)
        };
        assert!(inbox.iter().all(handled), "{inbox:?}");
        assert!(store.set_aside().await.unwrap().machines.is_empty());
        assert_eq!(store.list(&Query::new()).await.unwrap().items.len(), 1 + calls.len());
    }
    let report = store.verify_all(|_| {}).await.unwrap();
    assert!(report.is_clean(), "{orders:?}: {report:?}");
    close(store).await;
    assert_file_intact(&orders.file);
}

/// Disturbs a process at this place. Returns `false` if it has never come there.
async fn disturbed(charges: &[u32], act: Act, point: &str, before: usize) -> bool {
    // A frozen bank could charge after it was asked, so that its answer would be wrong.
    let (_folder, mut orders) = placed(charges, act == Act::Kill).await;
    let again = orders.clone();
    orders.at = Some((act, point.to_owned(), before));
    let mut process = start(&orders);
    match act {
        Act::Kill => {
            if process.ended().success() {
                agree(&orders, true).await;
                return false;
            }
            agree(&orders, false).await;
            start(&again).join();
        }
        Act::Freeze => {
            if process.hear_until_end::<String>().is_none() {
                process.join();
                agree(&orders, true).await;
                return false;
            }
            let has_lock = point == "store-commit";
            if has_lock {
                process.stop();
            } else {
                between_commits(&orders.file, || process.stop());
            }
            // Another one takes over, as far as it gets: within a commit it waits.
            let mut other = start(&again);
            if !has_lock {
                assert!(other.ended().success());
                agree(&orders, false).await;
            }
            process.thaw();
            process.join();
            other.ended();
            start(&again).join();
        }
    }
    agree(&orders, true).await;
    true
}

fn disturbed_everywhere(charges: &[u32], act: Act, points: &[&'static str]) {
    let mut places = Vec::new();
    for &point in points {
        let mut before = 0;
        while block_on(disturbed(charges, act, point, before)) {
            before += 1;
        }
        places.push((point, before));
    }
    eprintln!("{charges:?}, {act:?}: {places:?}");
    assert!(places.iter().all(|(_, count)| *count > 0), "{places:?}");
}

#[test]
fn killed_at_every_step_of_a_call() {
    disturbed_everywhere(&[500], Act::Kill, &POINTS);
}

#[test]
fn killed_at_every_step_of_a_set() {
    disturbed_everywhere(&[500, 2000, 700], Act::Kill, &["bank-charged", "store-committed"]);
}

#[test]
fn frozen_at_every_step_of_a_call() {
    disturbed_everywhere(&[500], Act::Freeze, &POINTS);
}
