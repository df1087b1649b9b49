//! The remains of a call pay later than its future ends. Until then people, policies, other workers
//! and other processes try to free its key, and to pay instead.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Condvar, Mutex},
    time::Duration,
};

use machine::{
    Id,
    actor::Actors,
    contract::{
        Answer, AnyExecution, Applied, Attempt, Call, Contract, Execution, NotDone, Perform,
        Planned, Policy, Settled, execution::Failed,
    },
    store::Store,
    worker::Worker,
};
use machine_tests::actors::{ann, graph_runner, tool_node};
use serde::{Deserialize, Serialize};

use crate::effects::{
    bank::{self, Bank, Dedup, Payment, Reply, Request},
    support::{assert_intact, loaded, new_store, stored},
    tool::{Pay, pay},
};
use crate::process::{Process, freeze, heard, orders, say};

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
    /// The service returns an error with `?`, after the client has answered or, with a guard, before.
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
    bank: SocketAddr,
    style: Style,
    ending: Ending,
}

/// A command of the parent to the child.
#[derive(Debug, Serialize, Deserialize)]
enum Command {
    /// A person and a policy of the process that made the call try to free the key.
    Own,
    /// A second worker of that process looks after the call.
    Second,
    /// The client pays now.
    Pay,
    End,
}

/// Opens once.
struct Gate(Mutex<bool>, Condvar, tokio::sync::Notify);

impl Gate {
    const fn shut() -> Self {
        Self(Mutex::new(false), Condvar::new(), tokio::sync::Notify::const_new())
    }
}

/// Opens when the client may pay.
static GATE: Gate = Gate::shut();

/// Opens when the service was called.
static CALLED: Gate = Gate::shut();

impl Gate {
    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
        self.2.notify_waiters();
    }

    fn wait(&self) {
        drop(self.1.wait_while(self.0.lock().unwrap(), |open| !*open).unwrap());
    }

    async fn opened(&self) {
        loop {
            let opened = self.2.notified();
            if *self.0.lock().unwrap() {
                return;
            }
            opened.await;
        }
    }
}

/// A service whose client waits before it pays.
struct Client<const CONFINED: bool> {
    bank: SocketAddr,
    style: Style,
    ending: Ending,
}

fn pays(bank: SocketAddr, payment: Payment) -> Answer {
    match bank::ask(bank, &Request::Pay(payment))? {
        Reply::Receipt(receipt) => Ok(Applied::new(receipt)),
        other => Err(NotDone::not_applied(format!("{other:?}"))),
    }
}

impl<const CONFINED: bool> Client<CONFINED> {
    async fn client(&self, call: &Call<Pay>) -> Answer {
        let bank = self.bank;
        let payment = payment(call);
        match self.style {
            Style::Async => {
                GATE.opened().await;
                pays(bank, payment)
            }
            Style::Bare => {
                let paid = tokio::task::spawn_blocking(move || {
                    GATE.wait();
                    pays(bank, payment)
                });
                paid.await?
            }
            Style::Guarded => {
                let in_flight = call.in_flight();
                let paid = tokio::task::spawn_blocking(move || {
                    GATE.wait();
                    let answer = pays(bank, payment);
                    in_flight.answer(answer.clone());
                    answer
                });
                paid.await?
            }
        }
    }
}

fn payment(call: &Call<Pay>) -> Payment {
    let (key, token) = (call.key().unwrap().to_string(), call.token().to_string());
    Payment { key, token, to: call.arguments().to.clone(), amount: call.arguments().amount }
}

impl<const CONFINED: bool> Perform<Pay> for Client<CONFINED> {
    const CONFINED: bool = CONFINED;

    async fn perform(&self, call: &Call<Pay>) -> Answer {
        say(&"in the call");
        CALLED.open();
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
        find(self.bank, attempt.key().unwrap().as_str())
    }
}

/// The bank is honest.
fn find(bank: SocketAddr, key: &str) -> Answer {
    match bank::ask(bank, &Request::Find(key.to_owned()))? {
        Reply::Receipt(receipt) => Ok(Applied::new(receipt)),
        _ => Err(NotDone::not_applied("the bank has not paid")),
    }
}

/// Pays at once, and asks the bank. For retries, and for workers that look after the call.
struct Teller(SocketAddr);

impl Perform<Pay> for Teller {
    async fn perform(&self, call: &Call<Pay>) -> Answer {
        pays(self.0, payment(call))
    }

    async fn find(&self, attempt: &Attempt<Pay>) -> Answer {
        find(self.0, attempt.key().unwrap().as_str())
    }
}

/// A person who looks at the bank says "not applied" if it has nothing, and a policy tries again what has failed.
async fn free_and_retry(store: &Store, bank: SocketAddr, id: Id) {
    let found = store.recover().await.unwrap();
    assert!(found.failed.is_empty(), "{found:?}");
    let execution: AnyExecution = store.load(id).await.unwrap();
    let key = execution.context().idempotency_key().unwrap().to_string();
    if let (Err(_), Ok(doubt)) = (find(bank, &key), store.in_doubt(id).await)
        && let Ok(failed) = store.confirm_not_applied(doubt, "the bank has nothing", ann()).await
    {
        retry(store, bank, Contract::retry(&failed, ann())).await;
    }
    retry_by_policy(store, bank, id).await;
}

async fn retry_by_policy(store: &Store, bank: SocketAddr, id: Id) {
    if let AnyExecution::Failed(failed) = store.load(id).await.unwrap() {
        let failed: Execution<Failed> = failed;
        let policy = Policy::new("tries again", graph_runner()).unwrap();
        retry(store, bank, Contract::retry(&failed, &policy)).await;
    }
}

async fn retry(store: &Store, bank: SocketAddr, contract: Contract) {
    let Ok(mut planned) = Planned::<Pay>::new(contract) else { return };
    if store.plan(&mut planned).await.is_ok() {
        // Refused where the key is held.
        drop(store.perform(planned, Teller(bank), tool_node()).await);
    }
}

/// A worker that asks the bank, and whose policy tries again.
async fn look_after(store: &Store, bank: SocketAddr, id: Id) {
    let worker = Worker::new(store, Actors::issue("second").unwrap()).tool::<Pay>(Teller(bank));
    worker.run_until_idle().await.unwrap();
    retry_by_policy(store, bank, id).await;
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
    let Orders { file, id, bank, style, ending } = orders;
    let mut store = Store::sqlite(&file).await.unwrap();
    let service = Client::<CONFINED> { bank, style, ending };
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
                CALLED.opened().await;
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
    CALLED.opened().await;
    say(&"ready");
    loop {
        match command().await {
            Command::Own => free_and_retry(&store, bank, id).await,
            Command::Second => look_after(&store, bank, id).await,
            Command::Pay => GATE.open(),
            Command::End => break,
        }
        say(&"done");
    }
    GATE.open();
}

async fn command() -> Command {
    tokio::task::spawn_blocking(heard).await.unwrap()
}

fn tell(child: &mut Process, command: &Command) {
    child.tell(command);
    assert_eq!(child.hear::<String>(), "done");
}

async fn pays_once(style: Style, ending: Ending) {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    let orders = Orders { file: file.clone(), id, bank: bank.address(), style, ending };
    let mut child = Process::start("effects::cut_off::calls", &orders);
    assert_eq!(child.hear::<String>(), "in the call");
    match ending {
        Ending::Drop | Ending::Close | Ending::Stop => child.tell(&Command::Own),
        Ending::Freeze => child.freeze(),
        _ => {}
    }
    if ending == Ending::Freeze {
        other_process(&store, &bank, id).await;
        child.thaw();
    }
    assert_eq!(child.hear::<String>(), "ready");
    other_process(&store, &bank, id).await;
    tell(&mut child, &Command::Own);
    tell(&mut child, &Command::Second);
    other_process(&store, &bank, id).await;
    let had_paid = bank.count();
    tell(&mut child, &Command::Pay);
    // Nothing is left of an asynchronous client whose future is gone.
    let is_gone = style == Style::Async
        && matches!(ending, Ending::Elapsed | Ending::Panic | Ending::Drop | Ending::Close);
    assert_eq!(had_paid, usize::from(is_gone), "paid in its place: {style:?}, {ending:?}");
    bank.wait_for_payments(1);
    tell(&mut child, &Command::Own);
    tell(&mut child, &Command::Second);
    other_process(&store, &bank, id).await;
    child.tell(&Command::End);
    child.join();
    other_process(&store, &bank, id).await;

    assert_eq!(bank.count(), 1, "{style:?}, {ending:?}");
    assert_settled(&store, id, is_gone).await;
    assert_intact(&store).await;
}

/// A person and a worker in this process, which has not made the call.
async fn other_process(store: &Store, bank: &Bank, id: Id) {
    free_and_retry(store, bank.address(), id).await;
    look_after(store, bank.address(), id).await;
}

/// In the end the execution says what happened; or its retry does.
async fn assert_settled(store: &Store, id: Id, is_retried: bool) {
    let execution: AnyExecution = store.load(id).await.unwrap();
    if is_retried {
        assert!(matches!(execution, AnyExecution::Failed(_)), "{execution:?}");
    } else {
        assert!(matches!(execution, AnyExecution::Completed(_)), "{execution:?}");
    }
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
