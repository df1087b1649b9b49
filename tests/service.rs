//! Services: some answer at once, some when the test tells them to, and some count.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use machine::contract::{
    Action, Answer, Applied, Attempt, Call, Callable, NoReceipt, Perform, Permit, ToolAnswer,
    Unsettled, service_fn,
};
use tokio::{
    sync::oneshot,
    task::{JoinError, JoinHandle},
};

/// A receipt.
#[allow(clippy::unnecessary_wraps, reason = "it is the answer of a service")]
pub fn receipt<N>(text: &str) -> Answer<String, N> {
    Ok(Applied::new(text))
}

/// The same, as the tool refuses.
fn into<N: From<String>>(reason: NoReceipt) -> NoReceipt<N> {
    reason.map(N::from)
}

/// A service that gives this answer.
#[must_use]
pub fn answers<T: Callable<Receipt = String, Refusal: From<String>>>(
    answer: Answer,
) -> impl Perform<T> + 'static {
    service_fn(move |_call: &Call<T>| {
        let answer = answer.clone();
        Box::pin(async move { answer.map_err(into) })
    })
}

/// The outcome of a call that took effect, with this receipt.
pub async fn applied<T>(permit: Permit<T>, text: &str) -> Unsettled
where
    T: Callable<Receipt = String, Refusal: From<String>>,
{
    permit.call(answers(receipt(text))).await
}

/// The outcome of a call that had no effect.
pub async fn not_applied<T>(permit: Permit<T>, reason: &str) -> Unsettled
where
    T: Callable<Receipt = String, Refusal: From<String>>,
{
    permit.call(answers(Err(NoReceipt::not_applied(reason)))).await
}

/// The outcome of a call whose effect is unknown.
pub async fn unknown<T>(permit: Permit<T>, reason: &str) -> Unsettled
where
    T: Callable<Receipt = String, Refusal: From<String>>,
{
    permit.call(answers(Err(NoReceipt::unknown(reason)))).await
}

/// A service that counts its calls. Every call gets the same answer.
#[derive(Debug)]
pub struct Counting {
    calls: AtomicUsize,
    answer: Answer,
    found: Answer,
}

impl Counting {
    /// A service with this answer to every call.
    #[must_use]
    pub fn new(answer: Answer) -> Self {
        let found = Err(NoReceipt::unknown("it cannot be asked"));
        Self { calls: AtomicUsize::new(0), answer, found }
    }

    /// A service with this answer to a status query.
    #[must_use]
    pub fn finds(answer: Answer) -> Self {
        let called = Err(NoReceipt::unknown("it is only asked"));
        Self { calls: AtomicUsize::new(0), answer: called, found: answer }
    }

    /// The number of calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl<T: Callable<Receipt = String, Refusal: From<String>>> Perform<T> for Counting {
    async fn perform(&self, _call: &Call<T>) -> ToolAnswer<T> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.answer.clone().map_err(into)
    }

    async fn find(&self, _attempt: &Attempt<T>) -> ToolAnswer<T> {
        self.found.clone().map_err(into)
    }
}

/// A service that answers when the test tells it to.
#[derive(Debug)]
pub struct HeldBack {
    started: Mutex<Option<oneshot::Sender<()>>>,
    answer: tokio::sync::Mutex<Option<oneshot::Receiver<Answer>>>,
}

/// The test's side of a service that is held back.
#[derive(Debug)]
pub struct Holder {
    started: Option<oneshot::Receiver<()>>,
    answer: oneshot::Sender<Answer>,
}

/// A service, and what lets it answer.
#[must_use]
pub fn held_back() -> (HeldBack, Holder) {
    let (start, started) = oneshot::channel();
    let (answer, answered) = oneshot::channel();
    let service = HeldBack {
        started: Mutex::new(Some(start)),
        answer: tokio::sync::Mutex::new(Some(answered)),
    };
    (service, Holder { started: Some(started), answer })
}

impl<T: Callable<Receipt = String, Refusal: From<String>>> Perform<T> for HeldBack {
    // It only waits.
    const CONFINED: bool = true;

    async fn perform(&self, _call: &Call<T>) -> ToolAnswer<T> {
        let started = self.started.lock().unwrap().take().expect("it is called once");
        started.send(()).unwrap();
        let answer = self.answer.lock().await.take().unwrap();
        answer.await?.map_err(into)
    }
}

impl Holder {
    /// Waits until the service was called.
    pub async fn started(&mut self) {
        self.started.take().unwrap().await.unwrap();
    }

    /// Lets the service answer.
    pub fn answer(self, answer: Answer) {
        self.answer.send(answer).unwrap();
    }
}

/// A call whose service was called and has not answered.
#[derive(Debug)]
pub struct InFlight {
    call: JoinHandle<Unsettled>,
    holder: Holder,
}

/// Calls a service that does not answer yet.
pub async fn in_flight(permit: Permit<Action>) -> InFlight {
    let (service, mut holder) = held_back();
    let call = tokio::spawn(permit.call(service));
    holder.started().await;
    InFlight { call, holder }
}

impl InFlight {
    /// Lets the service answer.
    pub async fn answer(self, answer: Answer) -> Unsettled {
        self.holder.answer(answer);
        self.call.await.unwrap()
    }

    /// Drops the call.
    pub async fn abort(self) -> JoinError {
        self.call.abort();
        self.call.await.unwrap_err()
    }
}
