//! Irreversible calls whose effect can come after their future, and people who try to repeat them.

use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard, atomic::Ordering},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{process::Process, shared::Shared, tours};
use crate::{
    actor::{Actors, Human},
    contract::{
        Answer, AnyExecution, Applied, Attempt, Call, Contract, InDoubt, InFlight, Irreversible,
        NoReceipt, Perform, Planned, Tool,
    },
    effects::error::EffectError,
    id::Id,
    store::{CommitError, Store, lock::lock},
};

/// Pays one order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pay {
    pub(super) order: u64,
}

impl Tool for Pay {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "pay";
    type Effect = Irreversible;
    type Receipt = String;
    type Refusal = String;
    const TIMEOUT: Option<Duration> = Some(Duration::from_millis(700));
    const SETTLING_TIME: Duration = Duration::from_secs(1);
}

/// The time after the end of its process in which a sent request still arrives.
const ON_THE_WIRE: Duration = Duration::from_millis(900);

/// The number of payments of each order.
#[derive(Debug, Default)]
pub(super) struct Bank(Mutex<BTreeMap<u64, usize>>);

impl Bank {
    fn paid(&self) -> MutexGuard<'_, BTreeMap<u64, usize>> {
        lock(&self.0)
    }

    fn has(&self, order: u64) -> bool {
        self.paid().contains_key(&order)
    }
}

/// The end of a call, as its worker sees it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    /// The service waits for its client.
    Returns,
    /// The service returns the error of a wait that it gave up.
    Elapses,
    Panics,
    /// The service says that its client may still be running.
    SaysSo,
    /// The service never returns; the worker stops waiting.
    Hangs,
    /// The client was not asked.
    Refuses,
}

/// The service: its client runs as a separate task, as long as its process does.
pub(super) struct Service<const CONFINED: bool> {
    pub(super) shared: Arc<Shared>,
    pub(super) process: Arc<Process>,
}

impl<const CONFINED: bool> Perform<Pay> for Service<CONFINED> {
    const CONFINED: bool = CONFINED;

    async fn perform(&self, call: &Call<Pay>) -> Answer {
        let order = call.arguments.order;
        tours::receive(&self.shared, call);
        let (ending, time, is_guarded) = self.shared.payment();
        if let Ending::Refuses = ending {
            return Err(NoReceipt::not_applied("closed on sundays"));
        }
        let guard = is_guarded.then(|| call.in_flight());
        let (shared, process) = (Arc::clone(&self.shared), Arc::clone(&self.process));
        let client = tokio::spawn(pay(shared, process, order, time, guard));
        match ending {
            Ending::Returns => {}
            Ending::Elapses => {
                tokio::time::timeout(time / 2, std::future::pending::<()>()).await?;
            }
            Ending::Panics => resume_unwind(Box::new("the service panicked")),
            Ending::SaysSo => {
                return Err(NoReceipt::StillRunning("gave up on the client".to_owned()));
            }
            Ending::Hangs | Ending::Refuses => std::future::pending().await,
        }
        client.await?
    }

    async fn find(&self, attempt: &Attempt<Pay>) -> Answer {
        if self.shared.bank.has(attempt.arguments.order) {
            Ok(Applied::new("found"))
        } else {
            Err(NoReceipt::not_applied("not found"))
        }
    }
}

/// The client of the bank.
async fn pay(
    shared: Arc<Shared>,
    process: Arc<Process>,
    order: u64,
    time: Duration,
    _guard: Option<InFlight<Pay>>,
) -> Answer {
    tokio::time::sleep(time).await;
    process.thawed().await;
    if process.dead_for().is_some_and(|time| time > ON_THE_WIRE) {
        std::future::pending::<()>().await;
    }
    let times = {
        let mut paid = shared.bank.paid();
        let times = paid.entry(order).or_default();
        *times += 1;
        *times
    };
    let mut ledger = shared.ledger();
    ledger.count(if process.is_dead() { "payments after the process" } else { "payments" });
    ledger.trace(&process, || format!("pays order {order}"));
    if times > 1 {
        ledger.violations.push(format!("order {order} was paid {times} times"));
    }
    Ok(Applied::new("paid"))
}

/// A person who wants an order to be paid, and denies every payment that the bank does not have.
pub(super) async fn order(shared: Arc<Shared>, order: u64, after: Duration) {
    tokio::time::sleep(after).await;
    let (_, store) = shared.process(false);
    let Ok(by) = Human::new("ann") else { return };
    let Some(mut newest) = plan(&store, order).await else { return };
    loop {
        let pause = shared.random().millis(100..600);
        tokio::time::sleep(pause).await;
        match store.load::<AnyExecution>(newest).await {
            Ok(AnyExecution::Completed(_)) => break,
            Ok(AnyExecution::Failed(failed)) => {
                let again = Planned::<Pay>::new(Contract::retry(&failed, &by));
                let Ok(mut again) = again else { continue };
                if create(&store, &mut again).await {
                    shared.ledger().count("payments retried");
                    newest = again.id();
                }
            }
            Ok(waiting @ AnyExecution::Waiting(_)) => {
                let Ok(doubt) = InDoubt::narrow(waiting) else { continue };
                Box::pin(settle(&shared, &store, doubt, order, &by)).await;
            }
            // A worker has it, or the store was busy.
            _ => {}
        }
    }
    let paid = shared.bank.paid().get(&order).copied();
    if paid.is_none() {
        let text = format!("order {order} is completed, and was not paid");
        shared.ledger().violations.push(text);
    }
    shared.open.fetch_sub(1, Ordering::AcqRel);
}

/// A person says how a payment in doubt ended: it was made if the bank has it.
pub(super) async fn settle(shared: &Shared, store: &Store, doubt: InDoubt, order: u64, by: &Human) {
    if shared.bank.has(order) {
        drop(store.confirm_applied(doubt, "found by ann", by).await);
        return;
    }
    let counted = match store.confirm_not_applied(doubt, "not found", by).await {
        Ok(_) => "denials that counted",
        Err(refused) => match refused.reason {
            EffectError::WorkerAlive { .. } | EffectError::CutOff { .. } => {
                "denials of what may be running"
            }
            _ => "other denials that were refused",
        },
    };
    shared.ledger().count(counted);
}

async fn plan(store: &Store, order: u64) -> Option<Id> {
    let actors = Actors::issue("shop").ok()?;
    let contract = Contract::of(&Pay { order }, &actors.reasoning_node).ok()?;
    let mut planned = Planned::<Pay>::new(contract).ok()?;
    create(store, &mut planned).await.then(|| planned.id())
}

/// Creates an execution, unless the store refuses it.
async fn create(store: &Store, planned: &mut Planned<Pay>) -> bool {
    loop {
        match store.batch().create(planned.machine()).write().await {
            Ok(()) | Err(EffectError::Commit(CommitError::AlreadyStored { .. })) => return true,
            Err(EffectError::Unavailable(_)) => {
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            Err(_) => return false,
        }
    }
}
