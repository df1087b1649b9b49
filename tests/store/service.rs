//! Services: some answer at once, some when the test tells them to, and some count.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use machine::contract::{
    Action, Answer, Applied, Attempt, Call, Callable, NotDone, Outcome, Perform, Permit, service_fn,
};
use tokio::{
    sync::oneshot,
    task::{JoinError, JoinHandle},
};

/// A receipt.
#[allow(clippy::unnecessary_wraps, reason = "it is the answer of a service")]
pub(crate) fn receipt(text: &str) -> Answer {
    Ok(Applied::new(text))
}

/// A service that gives this answer.
pub(crate) fn answers<T: Callable<Receipt = String>>(answer: Answer) -> impl Perform<T> {
    service_fn(move |_call: &Call<T>| {
        let answer = answer.clone();
        Box::pin(async move { answer })
    })
}

pub(crate) async fn applied<T>(permit: Permit<T>, text: &str) -> Outcome
where
    T: Callable<Receipt = String>,
{
    permit.call(answers(receipt(text))).await
}

pub(crate) async fn not_applied<T>(permit: Permit<T>, reason: &str) -> Outcome
where
    T: Callable<Receipt = String>,
{
    permit.call(answers(Err(NotDone::not_applied(reason)))).await
}

pub(crate) async fn unknown<T>(permit: Permit<T>, reason: &str) -> Outcome
where
    T: Callable<Receipt = String>,
{
    permit.call(answers(Err(NotDone::unknown(reason)))).await
}

/// A service that counts its calls. Every call gets the same answer.
#[derive(Debug)]
pub(crate) struct Counting {
    calls: AtomicUsize,
    answer: Answer,
    found: Answer,
}

impl Counting {
    pub(crate) fn new(answer: Answer) -> Self {
        let found = Err(NotDone::unknown("it cannot be asked"));
        Self { calls: AtomicUsize::new(0), answer, found }
    }

    /// A service with this answer to a status query.
    pub(crate) fn finds(answer: Answer) -> Self {
        let called = Err(NotDone::unknown("it is only asked"));
        Self { calls: AtomicUsize::new(0), answer: called, found: answer }
    }

    /// The number of calls.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl<T: Callable<Receipt = String>> Perform<T> for Counting {
    async fn perform(&self, _call: &Call<T>) -> Answer {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.answer.clone()
    }

    async fn find(&self, _attempt: &Attempt<T>) -> Answer {
        self.found.clone()
    }
}

/// A service that answers when the test tells it to.
pub(crate) struct HeldBack {
    started: Mutex<Option<oneshot::Sender<()>>>,
    answer: tokio::sync::Mutex<Option<oneshot::Receiver<Answer>>>,
}

/// The test's side of a service that is held back.
pub(crate) struct Holder {
    started: Option<oneshot::Receiver<()>>,
    answer: oneshot::Sender<Answer>,
}

pub(crate) fn held_back() -> (HeldBack, Holder) {
    let (start, started) = oneshot::channel();
    let (answer, answered) = oneshot::channel();
    let service = HeldBack {
        started: Mutex::new(Some(start)),
        answer: tokio::sync::Mutex::new(Some(answered)),
    };
    (service, Holder { started: Some(started), answer })
}

impl<T: Callable<Receipt = String>> Perform<T> for HeldBack {
    // It only waits.
    const CONFINED: bool = true;

    async fn perform(&self, _call: &Call<T>) -> Answer {
        let started = self.started.lock().unwrap().take().expect("it is called once");
        started.send(()).unwrap();
        let answer = self.answer.lock().await.take().unwrap();
        answer.await?
    }
}

impl Holder {
    /// Waits until the service was called.
    pub(crate) async fn started(&mut self) {
        self.started.take().unwrap().await.unwrap();
    }

    pub(crate) fn answer(self, answer: Answer) {
        self.answer.send(answer).unwrap();
    }
}

/// A call whose service was called and has not answered.
pub(crate) struct InFlight {
    call: JoinHandle<Outcome>,
    holder: Holder,
}

pub(crate) async fn in_flight(permit: Permit<Action>) -> InFlight {
    let (service, mut holder) = held_back();
    let call = tokio::spawn(permit.call(service));
    holder.started().await;
    InFlight { call, holder }
}

impl InFlight {
    /// Lets the service answer.
    pub(crate) async fn answer(self, answer: Answer) -> Outcome {
        self.holder.answer(answer);
        self.call.await.unwrap()
    }

    /// Drops the call.
    pub(crate) async fn abort(self) -> JoinError {
        self.call.abort();
        self.call.await.unwrap_err()
    }
}
