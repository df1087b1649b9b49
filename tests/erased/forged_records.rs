//! Records whose digests all fit, and which are not what this program would have written.

use machine::{
    contract::{AnyExecution, Execution},
    erased::VerifyError,
    machine,
};
use machine_tests::{
    assert_err, forge,
    samples::{Ticket, asked, read},
};
use serde::{Deserialize, Serialize};

/// The same name and states as `Ticket`, with one more way out: a later version of it.
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

/// A definition that is neither the program's nor in the record is refused, by its fingerprint.
#[test]
fn an_unknown_definition_is_refused() {
    let mut claim = forge::claim(&Ticket::new());
    let refused = claim.clone().verify::<later::AnyTicket>();
    let then = machine_tests::samples::ticket::DEFINITION;
    assert_err!(refused, VerifyError::UnknownDefinition { found, machine: "ticket", .. }
        if *found == then.fingerprint);
    claim.definitions.push(then.clone().into());
    claim.verify::<later::AnyTicket>().unwrap();
}

/// Also when the record was made to claim the new fingerprint: its journal was written by the old.
#[test]
fn a_record_cannot_claim_another_definition_than_its_journal() {
    let mut claim = forge::claim(&Ticket::new());
    claim.record.fingerprint = later::ticket::DEFINITION.fingerprint;
    let refused = forge::cross::<later::AnyTicket>(claim);
    assert!(refused.is_err(), "{refused:?}");
}

/// Nor can it claim to be another machine than its journal was created as.
#[test]
fn a_record_cannot_claim_another_machine_than_its_journal() {
    let mut claim = forge::claim(&Ticket::new());
    "refund".clone_into(&mut claim.record.machine);
    claim.record.fingerprint = refund::DEFINITION.fingerprint;
    let refused = forge::cross::<AnyRefund>(claim);
    assert!(refused.is_err(), "{refused:?}");
}

/// Data that do not fit their types are an error with the place, not a panic.
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

/// Nobody and somebody without a name are not the same.
#[test]
fn an_actor_cannot_appear_out_of_nowhere() {
    let mut claim = forge::claim(&Ticket::new().park());
    assert_eq!(claim.journal[1].actor, None);
    claim.journal[1].actor = Some("".into());
    assert!(claim.verify::<machine_tests::samples::AnyTicket>().is_err());
}

/// What any program may create, every program can read: arguments nested as deep as they come.
#[test]
fn whatever_is_accepted_can_be_read_again() {
    use machine::{
        actor::ReasoningNode,
        contract::{Contract, Tool},
    };
    let tool = Tool::irreversible("email", "send").unwrap();
    for depth in 100..130 {
        let arguments = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let Ok(contract) = Contract::tool_call(&tool, &arguments, &ReasoningNode) else {
            continue;
        };
        let claim = forge::claim(&Execution::new(contract));
        let read = claim.verify::<AnyExecution>();
        assert!(read.is_ok(), "depth {depth} was accepted and cannot be read: {read:?}");
    }
    forge::claim(&Execution::new(read("a.txt"))).verify::<AnyExecution>().unwrap();
}
