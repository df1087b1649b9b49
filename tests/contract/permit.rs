//! The evidence of a call under a permit (DESIGN 5).

use std::{error::Error, fmt, sync::Arc, time::Duration};

use machine::{
    contract::{
        Action, ActionRefusal, Applied, Call, Contract, Evidence, NoReceipt, Perform, Refusal,
        Settled, ToolAnswer, Unsettled, service_fn,
    },
    store::Store,
};
use machine_tests::{
    actors::tool_node,
    samples::{answers, mail, receipt},
    stores::{begun, stored},
};

/// Calls the service under a real permit.
async fn call(service: impl Perform<Action> + 'static) -> Unsettled {
    call_of(mail("bob"), service).await
}

async fn call_of(contract: Contract, service: impl Perform<Action> + 'static) -> Unsettled {
    let store = Store::memory();
    let (_running, permit) = begun(&store, contract).await;
    permit.call(service).await
}

async fn reason(service: impl Perform<Action> + 'static) -> String {
    match call(service).await.evidence() {
        Evidence::Unknown(reason) => reason.clone(),
        other => panic!("expected Unknown, found {other:?}"),
    }
}

#[tokio::test]
async fn a_receipt_is_evidence() {
    let outcome = call(receipt("250 queued")).await;
    assert_eq!(outcome.evidence(), &Evidence::Applied("250 queued".to_owned()));
}

/// The service receives the approved action, and what the remote side needs: key and fencing token.
#[tokio::test]
async fn the_service_gets_the_call() {
    let contract = mail("bob").timeout_after(Duration::from_secs(9));
    let (key, action) =
        (contract.idempotency_key().unwrap().to_string(), contract.action().clone());
    let before = machine::clock::now();
    let outcome = call_of(
        contract,
        service_fn(move |call: &Call<Action>| {
            assert_eq!(&call.arguments, &action);
            assert_eq!(call.timeout, Some(Duration::from_secs(9)));
            let expires_at = call.expires_at.unwrap();
            assert!(expires_at >= before + 9000, "{expires_at} < {before} + 9000");
            Box::pin(async move {
                assert!(call.still_valid().await);
                Ok(Applied::new(format!("{} {}", call.key.as_ref().unwrap(), call.token)))
            })
        }),
    )
    .await;
    // The permit is the fourth entry of a new store: created, held, moved, permitted.
    let expected = format!("{key} 00000000000000000001-00000000000000000004");
    assert_eq!(outcome.evidence(), &Evidence::Applied(expected));
}

/// Only an explicit `NotApplied` means that nothing happened.
#[tokio::test]
async fn not_applied_is_said() {
    let outcome = call(answers(Err(NoReceipt::not_applied("connection refused")))).await;
    assert_eq!(
        outcome.evidence(),
        &Evidence::NotApplied(Refusal::of(&ActionRefusal::new("connection refused")))
    );
}

/// `?` on any error means unknown, even if the error suggests that nothing happened.
#[tokio::test]
async fn an_error_is_unknown() {
    let reason = reason(service_fn(|_call: &Call<Action>| {
        Box::pin(async {
            let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
            Err(refused)?;
            Ok(Applied::new("unreachable"))
        })
    }))
    .await;
    assert_eq!(reason, "connection refused");
}

#[derive(Debug)]
struct Outer(std::num::ParseIntError);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer makes no sense")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// The reason contains the whole chain of causes.
#[tokio::test]
async fn the_causes_are_kept() {
    let reason = reason(service_fn(|_call: &Call<Action>| {
        Box::pin(async {
            "x".parse::<u8>().map_err(Outer)?;
            Ok(Applied::new("unreachable"))
        })
    }))
    .await;
    assert_eq!(reason, "the answer makes no sense: invalid digit found in string");
}

/// Panics in all the places that a service has.
struct Panics {
    at_once: bool,
}

impl Perform<Action> for Panics {
    #[allow(clippy::manual_async_fn, reason = "it panics before there is a future")]
    fn perform(&self, _call: &Call<Action>) -> impl Future<Output = ToolAnswer<Action>> + Send {
        assert!(!self.at_once, "before there is a future");
        async {
            tokio::task::yield_now().await;
            panic!("later")
        }
    }
}

/// A panic means unknown, wherever it is.
#[tokio::test]
async fn a_panic_is_unknown() {
    for at_once in [true, false] {
        assert_eq!(reason(Panics { at_once }).await, "the service panicked");
    }
    let shared = Arc::new(Panics { at_once: false });
    assert_eq!(reason(shared).await, "the service panicked");
}

/// An elapsed timeout of the service's own is an error like any other.
#[tokio::test]
async fn a_timeout_of_the_service_is_unknown() {
    let reason = reason(service_fn(|_call: &Call<Action>| {
        Box::pin(async {
            let limit = Duration::from_millis(1);
            tokio::time::timeout(limit, std::future::pending::<()>()).await?;
            Ok(Applied::new("unreachable"))
        })
    }))
    .await;
    assert!(reason.contains("elapsed"), "{reason}");
}

/// After the timeout of the contract the outcome is unknown, and the call itself keeps running.
#[tokio::test]
async fn a_timeout_stops_waiting_and_not_the_call() {
    let (answer, answered) = tokio::sync::oneshot::channel::<String>();
    let answered = Arc::new(tokio::sync::Mutex::new(Some(answered)));
    let service = service_fn(move |_call: &Call<Action>| {
        let answered = Arc::clone(&answered);
        Box::pin(async move {
            let answered =
                answered.lock().await.take().ok_or(NoReceipt::unknown("called twice"))?;
            Ok(Applied::new(answered.await?))
        })
    });
    let store = Store::memory();
    let pending = stored(&store, mail("bob").timeout_after(Duration::from_millis(1))).await;
    let settled = store.perform(pending, service, tool_node()).await.unwrap();
    let Settled::TimedOut(doubt, late) = settled else { panic!("{settled:?}") };
    assert!(doubt.question().contains("no answer in time"), "{}", doubt.question());
    answer.send("250 queued".to_owned()).unwrap();
    assert_eq!(late.await.unwrap(), Evidence::Applied("250 queued".to_owned()));
    let id = doubt.id();
    let question = store.in_doubt(id).await.unwrap().question();
    assert!(question.starts_with("It took effect: 250 queued."), "{question}");
}
