//! Records with valid digests that this program would not have written.

use machine::{
    contract::{AnyExecution, Execution},
    journal::Entry,
    machine,
    stored::VerifyError,
};
use machine_tests::actors::{ann, reasoning_node};
use machine_tests::{
    assert_err, forge,
    samples::{AnyTicket, Ticket, asked, read, ticket},
};
use serde::{Deserialize, Serialize};

/// A later version of `Ticket`: same name and states, with one more transition.
mod later {
    use super::{Deserialize, Serialize, machine};

    #[machine(durable)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Ticket {
        #[initial]
        #[on(park => Waiting)]
        #[on(close(verdict, answer) => Closed)]
        Open,
        #[stable]
        #[on(reopen => Open)]
        #[on(close(verdict, answer) => Closed)]
        Waiting,
        #[terminal]
        Closed { verdict: String, answer: f64 },
    }
}

/// Another machine with the same states and triggers as `Ticket`.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Refund {
    #[initial]
    #[on(park => Waiting)]
    #[on(close(verdict, answer) => Closed)]
    Open,
    #[stable]
    #[on(close(verdict, answer) => Closed)]
    Waiting,
    #[terminal]
    Closed { verdict: String, answer: f64 },
}

/// A definition that is neither the program's nor in the record is refused; the error names its
/// fingerprint.
#[test]
fn an_unknown_definition_is_refused() {
    let mut claim = forge::claim(&Ticket::new());
    let refused = claim.clone().verify::<later::AnyTicket>();
    let then = ticket::DEFINITION;
    assert_err!(refused, VerifyError::UnknownDefinition { found, machine: "ticket", .. }
        if *found == then.fingerprint);
    claim.definitions.push(then.clone().into());
    claim.verify::<later::AnyTicket>().unwrap();
}

/// A record cannot claim the new fingerprint if its journal was written under the old one.
#[test]
fn a_record_cannot_claim_another_definition_than_its_journal() {
    let mut claim = forge::claim(&Ticket::new());
    claim.record.fingerprint = later::ticket::DEFINITION.fingerprint;
    let refused = forge::cross::<later::AnyTicket>(claim);
    assert!(refused.is_err(), "{refused:?}");
}

/// A record cannot claim to be another kind of machine than its journal.
#[test]
fn a_record_cannot_claim_another_machine_than_its_journal() {
    let mut claim = forge::claim(&Ticket::new());
    "refund".clone_into(&mut claim.record.machine);
    claim.record.fingerprint = refund::DEFINITION.fingerprint;
    let refused = forge::cross::<AnyRefund>(claim);
    assert!(refused.is_err(), "{refused:?}");
}

/// Data that do not match their types are an error with the position, not a panic.
#[test]
fn data_that_do_not_fit_are_refused() {
    let waiting = forge::claim(&asked("Deploy?"));
    for state in ["", "{}", "null", "[]", r#"{"prompt":1}"#, "\u{0}"] {
        let mut claim = waiting.clone();
        state.clone_into(&mut claim.record.state);
        assert_err!(forge::cross_execution(claim), VerifyError::Data { .. });
    }
    for context in ["", "{}", "null", r#"{"action_type":"tool_call"}"#] {
        let mut claim = waiting.clone();
        context.clone_into(&mut claim.record.context);
        assert_err!(forge::cross_execution(claim), VerifyError::Data { .. });
    }
}

/// A missing actor differs from an actor with an empty name.
#[test]
fn an_actor_cannot_appear_out_of_nowhere() {
    let mut claim = forge::claim(&Ticket::new().park());
    assert_eq!(claim.journal[1].actor, None);
    claim.journal[1].actor = Some("".into());
    assert!(claim.verify::<AnyTicket>().is_err());
}

/// The actor of a move that is open to anyone is verified like the rest of the record.
#[test]
fn the_actor_of_an_open_move_cannot_be_changed() {
    let parked = AnyTicket::from(Ticket::new()).apply(ticket::Event::Park, ann()).unwrap();
    let claim = forge::claim(&parked);
    let read = claim.clone().verify::<AnyTicket>().unwrap();
    let entry = &read.journal().uncommitted()[1];
    assert_eq!((entry.actor.as_deref(), entry.by.as_deref()), (Some("human"), Some("ann")));
    let changes: [fn(&mut Entry); 4] = [
        |entry| entry.by = Some("eve".into()),
        |entry| entry.by = None,
        |entry| entry.actor = Some("graph_runner".into()),
        |entry| entry.actor = None,
    ];
    for change in changes {
        let mut claim = claim.clone();
        change(&mut claim.journal[1]);
        assert_err!(claim.verify::<AnyTicket>(), VerifyError::History { .. });
    }
}

/// Everything that can be created can be read again, with arguments of any accepted depth.
#[test]
fn whatever_is_accepted_can_be_read_again() {
    use machine::contract::{Contract, ToolSpec};
    let tool = ToolSpec::irreversible("email", "send").unwrap();
    for depth in 100..130 {
        let arguments = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let Ok(contract) = Contract::tool_call(&tool, &arguments, reasoning_node()) else {
            continue;
        };
        let claim = forge::claim(&Execution::new(contract));
        let read = claim.verify::<AnyExecution>();
        assert!(read.is_ok(), "depth {depth} was accepted and cannot be read: {read:?}");
    }
    forge::claim(&Execution::new(read("a.txt"))).verify::<AnyExecution>().unwrap();
}
