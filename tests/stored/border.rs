//! JSON round trips (DESIGN 3).

use machine::{
    contract::{AnyExecution, Execution, execution},
    definition::Definition,
    journal::Entry,
    store::OpenOptions,
    stored::{Unverified, VerifyError},
};
use machine_tests::{
    assert_err, forge,
    hand::Hand,
    samples::{AnyTicket, Ticket, asked, read, ticket},
};
use proptest::prelude::*;

use crate::stored::{
    model::{Who, actors, events},
    walk::{declined, eventful, walked},
};

/// The entries without their digests, which a machine has only after it was stored or serialized.
fn without_digests(entries: &[Entry]) -> Vec<Entry> {
    let mut entries = entries.to_vec();
    for entry in &mut entries {
        entry.digest = None;
    }
    entries
}

proptest! {
    /// A round trip preserves id, state, context and journal.
    #[test]
    fn json_goes_there_and_back(steps in prop::collection::vec((events(), actors()), 0..12)) {
        use machine::contract::execution::Event;
        let start = (Event::Start, Who::Tool);
        let machine = walked(std::iter::once(start).chain(steps).collect());
        let json = serde_json::to_string(&machine).unwrap();
        let claim: Unverified = serde_json::from_str(&json).unwrap();
        let back: AnyExecution = claim.verify().unwrap();
        prop_assert_eq!(back.id(), machine.id());
        prop_assert_eq!(back.status(), machine.status());
        prop_assert_eq!(back.context(), machine.context());
        let (before, after) = (machine.journal().uncommitted(), back.journal().uncommitted());
        prop_assert!(before.iter().all(|entry| entry.digest.is_none()));
        prop_assert!(after.iter().all(|entry| entry.digest.is_some()));
        prop_assert_eq!(without_digests(after), before);
        prop_assert_eq!(back.journal().summary(), machine.journal().summary());
        prop_assert_eq!(back.journal().version(), 0);
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), json);
    }

    /// Numbers survive bit-exactly, in the state and in the journal.
    #[test]
    fn numbers_come_back_exactly(answer in prop::num::f64::NORMAL | prop::num::f64::ZERO) {
        let closed = AnyTicket::from(Ticket::new().close("ok".to_owned(), answer));
        let json = serde_json::to_string(&closed).unwrap();
        let back: AnyTicket = serde_json::from_str::<Unverified>(&json).unwrap().verify().unwrap();
        let AnyTicket::Closed(back) = back else { panic!() };
        prop_assert_eq!(back.state().answer.to_bits(), answer.to_bits());
    }
}

/// A history with permits, fences and evidence survives too, and one with the answer of a person.
#[test]
fn an_eventful_history_comes_back() {
    for (claim, epoch) in [(eventful(), 1), (declined(), 0)] {
        let json = serde_json::to_string(&claim).unwrap();
        let claim: Unverified = serde_json::from_str(&json).unwrap();
        let back: AnyExecution = claim.verify().unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), json);
        assert_eq!(back.journal().epoch(), epoch);
    }
}

/// The forger's tools reproduce the library's digests, so forged records are refused for their
/// content and not for a wrong digest.
#[test]
fn the_forger_knows_the_format() {
    let all: [(Unverified, &Definition); 4] = [
        (eventful(), execution::DEFINITION),
        (declined(), execution::DEFINITION),
        (forge::claim(&asked("Deploy?")), execution::DEFINITION),
        (forge::claim(&Ticket::new().park()), ticket::DEFINITION),
    ];
    for (claim, own) in all {
        let mut forged = claim.clone();
        forged.journal.iter_mut().for_each(|entry| entry.digest = None);
        forge::reseal(&mut forged, own);
        assert_eq!(serde_json::to_value(forged).unwrap(), serde_json::to_value(claim).unwrap());
    }
}

/// The JSON of one kind of machine is refused as another kind.
#[test]
fn another_machine_is_refused() {
    let json = serde_json::to_string(&AnyTicket::from(Ticket::new())).unwrap();
    let claim: Unverified = serde_json::from_str(&json).unwrap();
    let refused = claim.verify::<AnyExecution>();
    assert_err!(refused, VerifyError::OtherMachine { expected: "execution", found, .. }
        if found == "ticket");
}

/// A machine that is in a store does not have its whole history, so it cannot be serialized; the
/// error names the method that can.
#[tokio::test]
async fn a_stored_machine_is_exported_by_its_store() {
    let mut pending = Execution::new(read("a.txt"));
    // The commit sets the time of the entry.
    let now = Hand::at(pending.journal().uncommitted()[0].at);
    let store = OpenOptions::new().clock(now).memory();
    let before = serde_json::to_value(Unverified::of(&pending).unwrap()).unwrap();
    store.create(&mut pending).await.unwrap();
    let id = pending.id();
    let refused = Unverified::of(&pending).unwrap_err().to_string();
    assert!(refused.contains("`Store::export`"), "{refused}");
    let refused = serde_json::to_string(&AnyExecution::from(pending)).unwrap_err().to_string();
    assert!(refused.contains("`Store::export`"), "{refused}");

    let mut exported = store.export(id).await.unwrap();
    let fingerprints: Vec<_> =
        exported.definitions.iter().map(|definition| definition.fingerprint).collect();
    assert_eq!(fingerprints, [execution::DEFINITION.fingerprint]);
    exported.definitions.clear();
    assert_eq!(serde_json::to_value(exported).unwrap(), before);
}
