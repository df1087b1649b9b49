//! The evidence of a call under a permit (DESIGN 4).

use std::{error::Error, fmt};

use machine::{
    actor::ToolNode,
    contract::{Answer, Applied, Evidence, Execution, NotDone, Outcome, Permit},
    store::Store,
};
use machine_tests::samples::mail;

/// Calls the tool under a real permit.
async fn call<Fut: Future<Output = Answer>>(tool: impl FnOnce(Permit) -> Fut) -> Outcome {
    let store = Store::memory();
    let mut pending = Execution::new(mail("bob"));
    store.create(&mut pending).await.unwrap();
    let (_running, permit) = store.begin(pending, &ToolNode).await.unwrap();
    permit.call(tool).await
}

async fn reason<Fut: Future<Output = Answer>>(tool: impl FnOnce(Permit) -> Fut) -> String {
    match call(tool).await.evidence() {
        Evidence::Unknown(reason) => reason.clone(),
        other => panic!("expected Unknown, found {other:?}"),
    }
}

#[tokio::test]
async fn a_receipt_is_evidence() {
    let outcome = call(async |_permit| Ok(Applied::new("250 queued"))).await;
    assert_eq!(outcome.evidence(), &Evidence::Applied("250 queued".to_owned()));
}

/// The tool receives the permit, with the key and the fencing token for the remote side.
#[tokio::test]
async fn the_tool_gets_the_permit() {
    let key = mail("bob").idempotency_key().unwrap().to_string();
    let outcome = call(async |permit: Permit| {
        Ok(Applied::new(format!("{} {}", permit.key().unwrap(), permit.token())))
    })
    .await;
    // The permit is the fourth entry of a new store: created, held, moved, permitted.
    let expected = format!("{key} 0000000001-00000000000000000004");
    assert_eq!(outcome.evidence(), &Evidence::Applied(expected));
}

/// Only an explicit `NotApplied` means that nothing happened.
#[tokio::test]
async fn not_applied_is_said() {
    let outcome = call(async |_permit| Err(NotDone::not_applied("connection refused"))).await;
    assert_eq!(outcome.evidence(), &Evidence::NotApplied("connection refused".to_owned()));
}

/// `?` on any error means unknown, even if the error suggests that nothing happened.
#[tokio::test]
async fn an_error_is_unknown() {
    let reason = reason(async |_permit| {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        Err(refused)?;
        Ok(Applied::new("unreachable"))
    })
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
    let reason = reason(async |_permit| {
        "x".parse::<u8>().map_err(Outer)?;
        Ok(Applied::new("unreachable"))
    })
    .await;
    assert_eq!(reason, "the answer makes no sense: invalid digit found in string");
}

fn panics_before_there_is_a_future(_permit: Permit) -> std::future::Ready<Answer> {
    panic!("at once")
}

/// A panic means unknown, before the first await and after it.
#[tokio::test]
async fn a_panic_is_unknown() {
    assert_eq!(reason(async |_permit| panic!("at once")).await, "the tool panicked");
    let later = async |_permit| {
        tokio::task::yield_now().await;
        panic!("later")
    };
    assert_eq!(reason(later).await, "the tool panicked");
    assert_eq!(reason(panics_before_there_is_a_future).await, "the tool panicked");
}

/// An elapsed timeout is an error like any other.
#[tokio::test]
async fn a_timeout_is_unknown() {
    let reason = reason(async |_permit| {
        let limit = std::time::Duration::from_millis(1);
        tokio::time::timeout(limit, std::future::pending::<()>()).await?;
        Ok(Applied::new("unreachable"))
    })
    .await;
    assert!(reason.contains("elapsed"), "{reason}");
}
