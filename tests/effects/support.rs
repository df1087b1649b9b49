//! Shared helpers.

use crate::effects::prelude::*;

/// Asserts that a value matches the pattern; otherwise prints the value.
macro_rules! assert_is {
    ($value:expr, $pattern:pat $(if $guard:expr)? $(,)?) => {
        match &$value {
            $pattern $(if $guard)? => {}
            other => panic!("expected {}, found {other:?}", stringify!($pattern)),
        }
    };
}
pub(crate) use assert_is;

/// Stores a new execution of this contract.
pub(crate) async fn stored<T: Callable>(store: &Store, contract: Contract) -> Planned<T> {
    machine_tests::stores::planned(store, contract).await.unwrap()
}

/// Loads an execution that has not started.
pub(crate) async fn loaded<T: Callable>(store: &Store, id: Id) -> Planned<T> {
    Planned::of(pending(store, id).await).unwrap()
}

/// The evidence that arrived late.
pub(crate) async fn late(store: &Store, id: Id) -> Vec<Evidence> {
    machine_tests::late_evidence(&store.history(id).await.unwrap())
}
