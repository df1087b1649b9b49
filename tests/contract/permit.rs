//! Evidence of a call that says nothing (DESIGN 5): the causes of an error, and a panic. What an
//! answer proves is in `effects::settle`; what leaves something behind, in `effects::cut_errors`.

use std::{error::Error, fmt, sync::Arc};

use machine::{
    contract::{Action, Applied, Call, Evidence, Perform, ToolAnswer, service_fn},
    store::Store,
};
use machine_tests::{samples::mail, stores::begun};

/// Calls the service under a real permit. Returns why its outcome is unknown.
async fn reason(service: impl Perform<Action> + 'static) -> String {
    let store = Store::memory();
    let (_running, permit) = begun(&store, mail("bob")).await;
    match permit.call(service).await.evidence() {
        Evidence::Unknown(reason) => reason.clone(),
        other => panic!("expected Unknown, found {other:?}"),
    }
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
