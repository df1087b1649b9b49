//! Contracts and machines shared by many tests.

use crate::actors::{ecs_node, reasoning_node};
use machine::{
    actor::EcsNode,
    contract::{
        Action, Answer, Applied, Call, Contract, Execution, Perform, ToolSpec,
        execution::{Pending, Waiting},
        service_fn,
    },
    machine,
};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Sends a mail to `to`: irreversible, `email.send`, settled at once.
#[must_use]
pub fn mail(to: &str) -> Contract {
    let tool = ToolSpec::irreversible("email", "send").unwrap().settling_time(Duration::ZERO);
    let arguments = serde_json::json!({ "to": to }).to_string();
    Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap().about(to)
}

/// Reads the file `path`: idempotent, `files.read`.
#[must_use]
pub fn read(path: &str) -> Contract {
    let tool = ToolSpec::idempotent("files", "read").unwrap();
    let arguments = serde_json::json!({ "path": path }).to_string();
    Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap()
}

/// An execution that sends a mail to `to`.
pub fn pending_mail(to: &str) -> Execution<Pending> {
    Execution::new(mail(to))
}

/// A service that gives this answer to every call.
#[must_use]
pub fn answers(answer: Answer) -> impl Perform<Action> + 'static {
    service_fn(move |_call: &Call<Action>| {
        let answer = answer.clone();
        Box::pin(async move { answer })
    })
}

/// A service that did it, with this receipt.
#[must_use]
pub fn receipt(text: &str) -> impl Perform<Action> + 'static {
    answers(Ok(Applied::new(text)))
}

/// A question to a person, asked but not answered.
pub fn asked(question: &str) -> Execution<Waiting> {
    asked_in(Contract::ecs_request(question, reasoning_node()).unwrap())
}

/// The same for a given contract.
pub fn asked_in(contract: Contract) -> Execution<Waiting> {
    ask(Execution::new(contract))
}

/// Puts a question to a person.
pub fn ask(question: Execution<Pending>) -> Execution<Waiting> {
    question.start(ecs_node()).suspend("yes or no?".to_owned(), ecs_node())
}

/// A user-defined durable machine: no context, no actors, and also with a state `waiting`.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ticket {
    /// Filed.
    #[initial]
    #[on(park => Waiting)]
    #[on(close(verdict, answer) => Closed)]
    Open,
    /// Laid aside.
    #[stable]
    #[on(close(verdict, answer) => Closed)]
    Waiting,
    /// Dealt with.
    #[terminal]
    Closed {
        /// How it ended.
        verdict: String,
        /// What was said.
        answer: f64,
    },
}

/// A lease on a resource with one user at a time: a plain machine for other crates to drive.
#[machine(on(revoke(reason) => Ended, from = Held))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Lease {
    /// Asked for.
    #[initial]
    #[on(grant(holder) => Granted, by = EcsNode)]
    #[on(refuse(reason) => Ended, by = EcsNode)]
    Requested {
        /// For how long, in seconds.
        seconds: u32,
    },
    /// In use.
    #[group(Held)]
    #[on(renew(seconds) => Granted)]
    #[on(warn => Expiring)]
    #[on(give_back(reason = format!("{holder} is done")) => Ended)]
    Granted {
        /// For how long, in seconds.
        seconds: u32,
        /// Who has it.
        holder: String,
    },
    /// In use, close to expiry.
    #[group(Held)]
    #[on(renew(seconds) => Granted)]
    Expiring {
        /// Who has it.
        holder: String,
    },
    /// Over.
    #[terminal]
    Ended {
        /// Why.
        reason: String,
    },
}
