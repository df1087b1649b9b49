//! One action has one key, whichever program plans it.

use std::sync::atomic::{AtomicU64, Ordering};

use machine::contract::{InvalidContract, Irreversible};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::effects::prelude::*;

on_file! {
    a_program_without_the_identity_is_refused,
    a_program_with_an_identity_is_refused_after_one_without,
    a_changed_identity_is_refused,
    an_earlier_plan_with_another_identity_is_refused,
    an_identity_that_changes_with_time_is_refused,
    the_same_identity_is_accepted,
    a_change_that_keeps_the_keys_is_accepted,
    a_call_that_a_hint_raised_is_compared_too,
}

/// A wire transfer; each program has its own idea of what identifies one.
macro_rules! wire {
    ($program:ident, |$wire:ident| $identity:expr) => {
        mod $program {
            use super::*;

            #[derive(Debug, Serialize, Deserialize)]
            pub(super) struct Wire {
                pub(super) n: u64,
                pub(super) at: u64,
            }

            impl Tool for Wire {
                const SERVICE: &'static str = "bank";
                const METHOD: &'static str = "wire";
                type Effect = Irreversible;
                type Receipt = String;
                type Refusal = String;

                fn identity(&self) -> Option<Value> {
                    let $wire = self;
                    $identity
                }
            }

            #[allow(dead_code, reason = "one program cannot even plan")]
            pub(super) fn wire(n: u64, at: u64) -> Planned<Wire> {
                Planned::new(Contract::of(&Wire { n, at }, reasoning_node()).unwrap()).unwrap()
            }
        }
    };
}

wire!(by_number, |wire| Some(json!({ "n": wire.n })));
wire!(by_number_in_other_words, |wire| Some(
    json!({ "n": f64::from(u32::try_from(wire.n).unwrap()) })
));
wire!(by_number_renamed, |wire| Some(json!({ "number": wire.n })));
wire!(by_everything, |_wire| None);
wire!(by_time, |wire| Some(json!([wire.n, HOUR.load(Ordering::SeqCst)])));
wire!(by_call, |_wire| Some(json!(CALLS.fetch_add(1, Ordering::SeqCst))));

static HOUR: AtomicU64 = AtomicU64::new(1);
static CALLS: AtomicU64 = AtomicU64::new(0);

/// This tool, known at run time only.
fn of_spec(n: u64, at: u64) -> Planned<Action> {
    let spec = ToolSpec::irreversible("bank", "wire").unwrap();
    let arguments = json!({ "n": n, "at": at }).to_string();
    let contract = Contract::tool_call(&spec, &arguments, reasoning_node()).unwrap();
    Planned::new(contract).unwrap()
}

async fn plan<T: Callable>(
    store: &Store,
    mut planned: Planned<T>,
) -> Result<Planned<T>, EffectError> {
    store.plan(&mut planned).await.map(|()| planned)
}

/// Plans it, and pays. Returns the execution that paid.
async fn pay<T: Callable<Receipt = String, Refusal: From<String>>>(
    store: &Store,
    planned: Planned<T>,
) -> Result<Id, EffectError> {
    let planned = plan(store, planned).await?;
    let (running, permit) = begin(store, planned).await?;
    let id = running.id();
    let outcome = applied(permit, "paid").await;
    let _ = store.settle(running, outcome, tool_node()).await.unwrap();
    Ok(id)
}

/// The execution does nothing: the tool derives other keys here.
fn assert_other_keys<T: std::fmt::Debug>(refused: &Result<T, EffectError>) {
    assert_err!(
        refused,
        EffectError::OtherIdentity { tool, .. } | EffectError::IdentityChanged { tool, .. }
            if tool == "bank.wire"
    );
}

async fn a_program_without_the_identity_is_refused(place: Place) {
    let other = place.open_again().await;
    pay(&place.store, by_number::wire(1, 1)).await.unwrap();
    assert_other_keys(&pay(&other, of_spec(1, 1)).await);
    assert_other_keys(&pay(&other, by_everything::wire(1, 2)).await);
    // No action of it was begun, and that is already enough.
    let place = place.another().await;
    let other = place.open_again().await;
    let _ = plan(&place.store, by_number::wire(1, 1)).await.unwrap();
    assert_other_keys(&plan(&other, of_spec(2, 2)).await);
    assert_other_keys(&plan(&other, by_everything::wire(2, 2)).await);
}

async fn a_program_with_an_identity_is_refused_after_one_without(place: Place) {
    for spec in [true, false] {
        let place = place.another().await;
        let other = place.open_again().await;
        let paid = if spec {
            pay(&place.store, of_spec(1, 1)).await
        } else {
            pay(&place.store, by_everything::wire(1, 1)).await
        };
        paid.unwrap();
        assert_other_keys(&pay(&other, by_number::wire(1, 1)).await);
    }
}

/// The error has the tool, the execution, and what both programs make of it. It comes also where no
/// type says what the action is.
async fn a_changed_identity_is_refused(place: Place) {
    let other = place.open_again().await;
    let paid = pay(&place.store, by_number::wire(7, 1)).await.unwrap();
    let refused = pay(&other, by_number_renamed::wire(7, 1)).await;
    assert_other_keys(&refused);
    let text = refused.unwrap_err().to_string();
    for part in [paid.to_string().as_str(), r#"{"n":7}"#, r#"{"number":7}"#, "METHOD"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_other_keys(&plan(&other, by_number_renamed::wire(9, 1)).await);
    let mut late = by_number_renamed::wire(7, 1).into_execution();
    assert_other_keys(&other.create(&mut late).await);
    assert_other_keys(&other.batch().create(&mut late).write().await);
}

/// Both programs begin with a file without any action of the tool. The one that pays is not
/// disturbed by plans that never ran, also of a model that plans the tool without its identity.
async fn an_earlier_plan_with_another_identity_is_refused(place: Place) {
    let other = place.open_again().await;
    let renamed = plan(&other, by_number_renamed::wire(8, 1)).await.unwrap();
    let untyped = by_number_renamed::wire(9, 1).into_execution();
    let untyped = plan(&other, Planned::<Action>::from(untyped)).await.unwrap();
    pay(&place.store, by_number::wire(7, 1)).await.unwrap();
    assert_other_keys(&begin(&other, renamed).await);
    assert_other_keys(&begin(&other, untyped).await);
    pay(&place.store, by_number::wire(3, 1)).await.unwrap();

    let place = place.another().await;
    let other = place.open_again().await;
    let without = plan(&other, of_spec(1, 1)).await.unwrap();
    pay(&place.store, by_number::wire(1, 1)).await.unwrap();
    assert_other_keys(&begin(&other, without).await);
}

async fn an_identity_that_changes_with_time_is_refused(place: Place) {
    // Only this test uses the clock.
    HOUR.store(1, Ordering::SeqCst);
    pay(&place.store, by_time::wire(1, 1)).await.unwrap();
    HOUR.store(2, Ordering::SeqCst);
    // In the same program, and in a later one.
    for store in [place.store.clone(), place.open_again().await] {
        assert_other_keys(&pay(&store, by_time::wire(1, 1)).await);
    }
    let impure = Contract::of(&by_call::Wire { n: 1, at: 1 }, reasoning_node());
    assert_err!(&impure, InvalidContract::OtherIdentity { .. });
}

async fn the_same_identity_is_accepted(place: Place) {
    let other = place.open_again().await;
    pay(&place.store, by_number::wire(1, 1)).await.unwrap();
    let again = pay(&other, by_number::wire(1, 2)).await;
    assert_err!(again, EffectError::Commit(CommitError::AlreadyDone { .. }));
    for n in 2..5 {
        pay(&place.store, by_number::wire(n, 1)).await.unwrap();
        pay(&other, by_number::wire(n + 10, 1)).await.unwrap();
    }
    // An action keeps its identity where its type is not known.
    let planned = plan(&other, by_number::wire(9, 1)).await.unwrap();
    begin::<Action>(&other, planned.into_execution()).await.map(drop).unwrap();
}

async fn a_change_that_keeps_the_keys_is_accepted(place: Place) {
    let other = place.open_again().await;
    pay(&place.store, by_number::wire(1, 1)).await.unwrap();
    pay(&other, by_number_in_other_words::wire(2, 1)).await.unwrap();
    let again = pay(&other, by_number_in_other_words::wire(1, 2)).await;
    assert_err!(again, EffectError::Commit(CommitError::AlreadyDone { .. }));
}

/// The table of tools does not know an idempotent tool whose calls a hint raised.
async fn a_call_that_a_hint_raised_is_compared_too(place: Place) {
    let spec = ToolSpec::idempotent("bank", "wire").unwrap();
    let raised = |n: u64| {
        let arguments = json!({ "n": n, "at": 1 }).to_string();
        let contract = Contract::tool_call(&spec, &arguments, reasoning_node()).unwrap();
        Planned::<Action>::new(contract.irreversible()).unwrap()
    };
    pay(&place.store, raised(1)).await.unwrap();
    let other = place.open_again().await;
    assert_other_keys(&pay(&other, by_number::wire(1, 1)).await);
}

/// An attempt that cannot be read, or whose machine was pruned, says nothing.
#[tokio::test]
async fn an_attempt_that_cannot_be_compared_is_skipped() {
    let place = Place::new().await;
    let id = pay(&place.store, by_number::wire(1, 1)).await.unwrap();
    assert_eq!(place.edit("UPDATE context SET body = '{}' WHERE instance = ?2", id), 1);
    let other = place.open_again().await;
    other.load::<AnyExecution>(id).await.unwrap_err();
    pay(&other, by_number::wire(2, 1)).await.unwrap();
}

/// Only the newest are compared, so the cost does not grow with the file.
#[tokio::test]
async fn the_newest_are_compared() {
    let place = Place::new().await;
    for n in 0..3 {
        pay(&place.store, by_number::wire(n, 1)).await.unwrap();
    }
    let mut other = Execution::new(mail("bob"));
    place.store.create(&mut other).await.unwrap();
    assert_other_keys(&pay(&place.store, by_number_renamed::wire(9, 1)).await);
}
