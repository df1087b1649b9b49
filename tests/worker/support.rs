//! Stores, a clock, and a machine whose moves are refused in every way.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::{Actor, Actors, Category, GraphRunner, Human},
    clock::{Clock, Millis},
    machine,
    store::{Delivery, Message, OpenOptions, Received, Store},
    stored::{Durable, Restore},
    typed::Erased,
    worker::{Failure, Handler, Next, Task, Worker},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A customer, an actor of this program.
pub(crate) struct Customer;

impl Actor for Customer {
    const KIND: &'static str = "customer";
    const CATEGORY: Category = Category::Human;
}

#[derive(Debug)]
pub(crate) struct TooMuch;

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("more than 100 needs two people")
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "guards take references")]
fn affordable(_: &ticket::Open, amount: &u32) -> Result<(), TooMuch> {
    assert!(*amount != 13, "unlucky");
    if *amount > 100 { Err(TooMuch) } else { Ok(()) }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Ticket {
    #[initial]
    #[on(open => Open, by = GraphRunner)]
    New,
    #[stable]
    #[on(pay(amount) => Paid, by = Human, guard = affordable -> TooMuch)]
    #[on(share(parts: u32) => Paid(amount = 100 / parts), by = Human)]
    #[on(wish(text) => Wished, by = Customer)]
    #[on(lock => Locked, by = GraphRunner)]
    #[on(cancel(reason) => Cancelled, by = GraphRunner | Human)]
    Open,
    #[stable]
    #[on(unlock => Open, by = GraphRunner | Human)]
    Locked,
    #[terminal]
    Paid { amount: u32 },
    #[terminal]
    Wished { text: String },
    #[terminal]
    Cancelled { reason: String },
}

pub(crate) type Handled<'a, M> =
    Pin<Box<dyn Future<Output = Result<Next<M>, Failure>> + Send + 'a>>;

/// A handler made of a function.
pub(crate) struct Does<M>(Box<DoesFn<M>>);

type DoesFn<M> = dyn for<'a> Fn(M, &'a mut Task) -> Handled<'a, M> + Send + Sync;

pub(crate) fn does<M>(
    function: impl for<'a> Fn(M, &'a mut Task) -> Handled<'a, M> + Send + Sync + 'static,
) -> Does<M> {
    Does(Box::new(function))
}

impl<M> Handler for Does<M>
where
    M: Restore + Erased<Event: DeserializeOwned + Send> + Send + 'static,
{
    type Machine = M;

    async fn handle(&self, machine: M, task: &mut Task) -> Result<Next<M>, Failure> {
        (self.0)(machine, task).await
    }
}

/// Opens tickets, and waits for messages.
pub(crate) fn opens() -> Does<AnyTicket> {
    let runner = actors().graph_runner;
    does(move |ticket, _| {
        let next = match ticket {
            AnyTicket::New(ticket) => Next::to(ticket.open(&runner)),
            _ => Next::Wait,
        };
        Box::pin(async move { Ok(next) })
    })
}

pub(crate) fn actors() -> Actors {
    Actors::issue("worker").unwrap()
}

pub(crate) fn ann() -> Human {
    Human::new("ann").unwrap()
}

/// A message of Ann's.
pub(crate) fn says(body: &str, correlation: &str) -> Message {
    Message::from_json(body, &ann()).unwrap().with_correlation(correlation).unwrap()
}

/// A worker that tries again at once.
pub(crate) fn worker(store: &Store) -> Worker {
    Worker::new(store, actors()).backoff(Duration::ZERO, Duration::ZERO)
}

/// Runs until nothing is ready. The timeout is for a worker that never rests.
pub(crate) async fn settle(worker: Worker) {
    let idle = tokio::time::timeout(Duration::from_secs(20), worker.run_until_idle());
    idle.await.expect("the worker rests").unwrap();
}

/// Runs a test on a store in memory, and on one in a file.
pub(crate) async fn each(test: impl AsyncFn(Store)) {
    timed(async |store, _| test(store).await).await;
}

/// Runs the test with a clock that it moves forward.
pub(crate) async fn timed(test: impl AsyncFn(Store, Hand)) {
    let folder = tempfile::tempdir().unwrap();
    let hand = Hand::default();
    test(OpenOptions::new().clock(hand.clone()).memory(), hand).await;
    let hand = Hand::default();
    let options = OpenOptions::new().clock(hand.clone());
    test(options.sqlite(folder.path().join("agent.db")).await.unwrap(), hand).await;
}

/// A clock that stands still until it is moved on.
#[derive(Debug, Clone)]
pub(crate) struct Hand(Arc<AtomicI64>);

impl Default for Hand {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(1_000_000)))
    }
}

impl Hand {
    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(Millis::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Millis {
        self.0.load(Ordering::SeqCst)
    }
}

/// A ticket in the store, in its first state.
pub(crate) async fn ticket(store: &Store) -> Id {
    create(store, Ticket::new()).await
}

pub(crate) async fn create(store: &Store, mut machine: impl Durable) -> Id {
    store.create(&mut machine).await.unwrap();
    machine.journal().id()
}

pub(crate) async fn status(store: &Store, id: Id) -> ticket::Status {
    store.load::<AnyTicket>(id).await.unwrap().status()
}

/// The message with this correlation id.
pub(crate) async fn message(store: &Store, id: Id, correlation: &str) -> Received {
    let inbox = store.inbox(id).await.unwrap();
    let mut found = inbox.into_iter().flatten().filter(|it| it.correlation == correlation);
    found.next().unwrap_or_else(|| panic!("no message {correlation}"))
}

/// The message is set aside with this text.
pub(crate) async fn refused(store: &Store, id: Id, correlation: &str, text: &str) {
    let message = message(store, id, correlation).await;
    assert_eq!(message.error.as_deref(), Some(text));
    assert_eq!(message.status, Delivery::SetAside);
    assert!(store.set_aside().await.unwrap().messages.contains(&message));
}

/// The message waits, with this text.
pub(crate) async fn waits(store: &Store, id: Id, correlation: &str, text: &str) {
    let message = message(store, id, correlation).await;
    assert_eq!(message.error.as_deref(), Some(text));
    assert_eq!(message.status, Delivery::Queued);
}
