//! No other machine moves the library's executions.

use machine::{
    actor::{Actor, Category},
    contract::Contract,
    effects::EffectError,
    machine,
    store::CommitError,
};
use machine_tests::{assert_err, samples::mail};
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, on_file};

on_file! {
    a_namesake_moves_no_execution,
    a_contract_is_no_context_for_other_machines,
}

/// Anybody can make one.
#[derive(Debug)]
struct Stranger;

impl Actor for Stranger {
    const KIND: &'static str = "stranger";
    const CATEGORY: Category = Category::System;
}

mod namesake {
    use super::*;

    /// The states and data of the library's execution, with other moves.
    #[machine(durable, context = Contract)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Execution {
        #[initial]
        #[on(start => Running, by = Stranger)]
        Pending,
        #[on(suspend(prompt) => Waiting, by = Stranger)]
        #[on(succeed(result) => Completed, by = Stranger)]
        Running,
        #[stable]
        #[on(reset => Pending, by = Stranger)]
        #[on(succeed(result) => Completed, by = Stranger)]
        Waiting { prompt: String },
        #[terminal]
        Completed { result: String },
    }
}

mod borrower {
    use super::*;

    #[machine(durable, context = Contract)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Payment {
        #[initial]
        #[on(pay => Paid, by = Stranger)]
        Open,
        #[terminal]
        Paid,
    }
}

/// A gate, and an execution in doubt, stay as they are, whatever a machine of the same name says.
async fn a_namesake_moves_no_execution(place: Place) {
    let (gate, _mail) = place.asked(mail("bob")).await;
    let before = place.dump();
    let Ok(namesake::AnyExecution::Waiting(waiting)) = place.store.load(gate.id()).await else {
        // It may also be refused at once.
        return;
    };
    let mut done = waiting.succeed("yes".to_owned(), &Stranger);
    let refused = place.store.commit(&mut done).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { .. }));
    let Ok(namesake::AnyExecution::Waiting(waiting)) = place.store.load(gate.id()).await else {
        panic!("it was read before")
    };
    let mut reset = waiting.reset(&Stranger);
    let refused = place.store.commit(&mut reset).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { .. }));
    assert_eq!(place.dump(), before);

    let mut own = namesake::Execution::new(mail("eve"));
    let refused = place.store.create(&mut own).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { .. }));
}

/// Its keys would be those of executions, without their rules.
async fn a_contract_is_no_context_for_other_machines(place: Place) {
    let mut payment = borrower::Payment::new(mail("bob"));
    let refused = place.store.create(&mut payment).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { breach, .. })
        if breach.to_string().contains("its own context"));
}
