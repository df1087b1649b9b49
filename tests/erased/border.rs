//! JSON round trips (DESIGN 3).

use machine::{
    contract::AnyExecution,
    erased::{Unverified, VerifyError},
};
use machine_tests::{
    assert_err, forge,
    samples::{AnyTicket, Ticket, asked},
};
use proptest::prelude::*;

use crate::{
    model::{Who, actors, events},
    walk::{eventful, walked},
};

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
        prop_assert_eq!(back.journal().entries(), machine.journal().entries());
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

/// A history with permits, fences and evidence survives too.
#[test]
fn an_eventful_history_comes_back() {
    let claim = eventful();
    let json = serde_json::to_string(&claim).unwrap();
    let claim: Unverified = serde_json::from_str(&json).unwrap();
    let back: AnyExecution = claim.verify().unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), json);
    assert_eq!(back.journal().epoch(), 1);
}

/// The forger's tools reproduce the library's digests, so forged records are refused for their
/// content and not for a wrong digest.
#[test]
fn the_forger_knows_the_format() {
    for claim in [eventful(), forge::claim(&asked("Deploy?")), forge::claim(&Ticket::new().park())]
    {
        let mut forged = claim.clone();
        forge::reseal(&mut forged);
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
