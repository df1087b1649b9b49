//! The remains of a call pay later than its future ends. Until then people, policies, other workers
//! and other processes try to free its key, and to pay instead.

use std::{net::SocketAddr, path::PathBuf};

use machine::{actor::Actors, worker::Worker};
use machine_tests::process::{Process, freeze, heard, orders, say};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::effects::{
    bank::{self, Dedup, Payment},
    office::Office,
    prelude::*,
    support::loaded,
    tool::{Pay, Teller, pay},
};

/// The kind of service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Style {
    /// In its own future, and nowhere else.
    Async,
    /// On a blocking thread that nothing knows of.
    Bare,
    /// On a blocking thread with a guard.
    Guarded,
}

/// The end of the call for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Ending {
    Return,
    /// The service returns an error with `?`, after the client has answered or, with a guard,
    /// before.
    Question,
    /// The service stops waiting for its client.
    Elapsed,
    Panic,
    /// The caller drops the call.
    Drop,
    /// The worker that calls is stopped.
    Stop,
    /// The caller drops the call, and closes the store.
    Close,
    Freeze,
}

const ENDINGS: [Ending; 8] = [
    Ending::Return,
    Ending::Question,
    Ending::Elapsed,
    Ending::Panic,
    Ending::Drop,
    Ending::Stop,
    Ending::Close,
    Ending::Freeze,
];

#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    id: Id,
    /// A service that pays at once, for retries and for workers that monitor the call.
    teller: Teller,
    style: Style,
    ending: Ending,
}

/// A command of the parent to the child.
#[derive(Debug, Serialize, Deserialize)]
enum Command {
    /// Two people at the process that made the call try to free the key.
    Own,
    /// A second worker of that process monitors the call.
    Second,
    /// The client pays now.
    Pay,
    End,
}

/// Is closed when the client may pay.
static MAY_PAY: Semaphore = Semaphore::const_new(0);

/// Is closed when the service was called.
static CALLED: Semaphore = Semaphore::const_new(0);

async fn closed(gate: &Semaphore) {
    assert!(gate.acquire().await.is_err(), "it has no permits");
}

/// Pays when it may, on a blocking thread.
fn pays_later(bank: SocketAddr, payment: Payment) -> Answer {
    tokio::runtime::Handle::current().block_on(closed(&MAY_PAY));
    bank::pay(bank, payment)
}

/// A service whose client waits before it pays.
struct Client<const CONFINED: bool> {
    bank: SocketAddr,
    style: Style,
    ending: Ending,
}

impl<const CONFINED: bool> Client<CONFINED> {
    async fn client(&self, call: &Call<Pay>) -> Answer {
        let bank = self.bank;
        let payment = Payment::of(call);
        match self.style {
            Style::Async => {
                closed(&MAY_PAY).await;
                bank::pay(bank, payment)
            }
            Style::Bare => tokio::task::spawn_blocking(move || pays_later(bank, payment)).await?,
            Style::Guarded => {
                let in_flight = call.in_flight();
                let paid = tokio::task::spawn_blocking(move || {
                    let answer = pays_later(bank, payment);
                    in_flight.answer(answer.clone());
                    answer
                });
                paid.await?
            }
        }
    }
}

impl<const CONFINED: bool> Perform<Pay> for Client<CONFINED> {
    const CONFINED: bool = CONFINED;

    async fn perform(&self, call: &Call<Pay>) -> Answer {
        say(&"in the call");
        CALLED.close();
        let moment = Duration::from_millis(20);
        match (self.ending, self.style) {
            (Ending::Question, Style::Guarded) | (Ending::Panic, _) => {
                let begun = tokio::time::timeout(moment, self.client(call)).await;
                assert!(begun.is_err(), "it has paid already");
                if self.ending == Ending::Panic {
                    std::panic::resume_unwind(Box::new("as the test says"));
                }
                Err(std::io::Error::other("connection reset"))?
            }
            (Ending::Question, _) => {
                self.client(call).await?;
                Err(std::io::Error::other("the reply was lost"))?
            }
            (Ending::Elapsed, _) => tokio::time::timeout(moment, self.client(call)).await?,
            _ => self.client(call).await,
        }
    }

    async fn find(&self, attempt: &Attempt<Pay>) -> Answer {
        bank::find(self.bank, attempt.key.as_ref().unwrap().as_str())
    }
}

/// A person who checks the bank confirms "not applied" if it has nothing, and one retries failed
/// calls.
async fn free_and_retry(store: &Store, teller: &Teller, id: Id) {
    let found = store.recover().await.unwrap();
    assert!(found.failed.is_empty(), "{found:?}");
    let execution: AnyExecution = store.load(id).await.unwrap();
    let key = execution.context().idempotency_key().unwrap().to_string();
    if let (Err(_), Ok(doubt)) = (bank::find(teller.bank, &key), store.in_doubt(id).await)
        && let Ok(failed) = store.confirm_not_applied(doubt, "the bank has nothing", ann()).await
    {
        retry(store, teller, Contract::retry(&failed, ann())).await;
    }
    retry_failed(store, teller, id).await;
}

async fn retry_failed(store: &Store, teller: &Teller, id: Id) {
    if let AnyExecution::Failed(failed) = store.load(id).await.unwrap() {
        retry(store, teller, Contract::retry(&failed, ann())).await;
    }
}

async fn retry(store: &Store, teller: &Teller, contract: Contract) {
    let Ok(mut planned) = Planned::<Pay>::new(contract) else { return };
    if store.plan(&mut planned).await.is_ok() {
        // Refused where the key is held.
        drop(store.perform(planned, teller.clone(), tool_node()).await);
    }
}

/// A worker that asks the bank, and a person who tries again.
async fn look_after(store: &Store, teller: &Teller, id: Id) {
    let actors = Actors::issue("second").unwrap();
    let worker = Worker::new(store, actors).tool::<Pay>(teller.clone());
    worker.run_until_idle().await.unwrap();
    retry_failed(store, teller, id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "other tests run it as another process"]
async fn calls() {
    let orders: Orders = orders();
    if orders.style == Style::Async {
        call_as::<true>(orders).await;
    } else {
        call_as::<false>(orders).await;
    }
}

async fn call_as<const CONFINED: bool>(orders: Orders) {
    let Orders { file, id, teller, style, ending } = orders;
    let mut store = Store::sqlite(&file).await.unwrap();
    let service = Client::<CONFINED> { bank: teller.bank, style, ending };
    if ending == Ending::Stop {
        let actors = Actors::issue("first").unwrap();
        let worker = Worker::new(&store, actors).tool::<Pay>(service).grace(Duration::ZERO);
        let running = worker.start();
        // Where the service is in its call.
        assert!(matches!(command().await, Command::Own));
        running.stop().await.unwrap();
    } else {
        let planned: Planned<Pay> = loaded(&store, id).await;
        let by = tool_node();
        let caller = store.clone();
        let mut call = tokio::spawn(async move { caller.perform(planned, service, by).await });
        match ending {
            Ending::Drop | Ending::Close => {
                assert!(matches!(command().await, Command::Own));
                call.abort();
                assert!(call.await.unwrap_err().is_cancelled());
            }
            Ending::Freeze => {
                closed(&CALLED).await;
                tokio::task::spawn_blocking(freeze).await.unwrap();
            }
            Ending::Elapsed | Ending::Panic => {
                assert!(matches!((&mut call).await.unwrap().unwrap(), Settled::InDoubt(_)));
            }
            Ending::Question if style == Style::Guarded => {
                assert!(matches!((&mut call).await.unwrap().unwrap(), Settled::InDoubt(_)));
            }
            _ => {}
        }
        if ending == Ending::Close {
            store.close().await.unwrap();
            drop(store);
            store = Store::sqlite(&file).await.unwrap();
        }
    }
    closed(&CALLED).await;
    say(&"ready");
    loop {
        match command().await {
            Command::Own => free_and_retry(&store, &teller, id).await,
            Command::Second => look_after(&store, &teller, id).await,
            Command::Pay => MAY_PAY.close(),
            Command::End => break,
        }
        say(&"done");
    }
    MAY_PAY.close();
}

async fn command() -> Command {
    tokio::task::spawn_blocking(heard).await.unwrap()
}

fn tell(child: &mut Process, command: &Command) {
    child.tell(command);
    assert_eq!(child.hear::<String>(), "done");
}

async fn pays_once(style: Style, ending: Ending) {
    let office = Office::open(Dedup::Nothing).await;
    let (teller, id) = (Teller::pays(&office.bank), office.planned(pay("bob")).await);
    // A person and a worker in this process, which has not made the call.
    let other_process = async || {
        free_and_retry(&office.store, &teller, id).await;
        look_after(&office.store, &teller, id).await;
    };
    let orders = Orders { file: office.file(), id, teller: teller.clone(), style, ending };
    let mut child = Process::start("effects::cut_off::calls", &orders);
    assert_eq!(child.hear::<String>(), "in the call");
    match ending {
        Ending::Drop | Ending::Close | Ending::Stop => child.tell(&Command::Own),
        Ending::Freeze => {
            child.freeze_between_commits(&office.file());
            other_process().await;
            child.thaw();
        }
        _ => {}
    }
    assert_eq!(child.hear::<String>(), "ready");
    other_process().await;
    tell(&mut child, &Command::Own);
    tell(&mut child, &Command::Second);
    other_process().await;
    let had_paid = office.bank.count();
    tell(&mut child, &Command::Pay);
    // Nothing is left of an asynchronous client whose future is gone.
    let is_gone = style == Style::Async
        && matches!(ending, Ending::Elapsed | Ending::Panic | Ending::Drop | Ending::Close);
    assert_eq!(had_paid, usize::from(is_gone), "paid in its place: {style:?}, {ending:?}");
    office.bank.wait_for_payments(1);
    tell(&mut child, &Command::Own);
    tell(&mut child, &Command::Second);
    other_process().await;
    child.tell(&Command::End);
    child.join();
    other_process().await;

    assert_eq!(office.bank.count(), 1, "{style:?}, {ending:?}");
    // In the end the execution says what happened; or its retry does.
    let ended_as = if is_gone { Status::Failed } else { Status::Completed };
    assert_eq!(office.status(id).await, ended_as, "{style:?}, {ending:?}");
    office.assert_intact().await;
}

macro_rules! matrix {
    ($($name:ident = $style:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            for ending in ENDINGS {
                pays_once(Style::$style, ending).await;
            }
        }
    )*};
}

matrix! {
    an_asynchronous_client_pays_once = Async;
    a_blocking_client_pays_once = Bare;
    a_blocking_client_with_a_guard_pays_once = Guarded;
}
