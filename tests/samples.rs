//! Contracts and machines shared by many tests.

use std::time::Duration;

use machine::{
    Id,
    actor::EcsNode,
    contract::{
        Action, AnyExecution, Applied, Contract, Execution, Perform, ToolSpec,
        execution::{Pending, Waiting},
    },
    machine,
    store::Store,
    view::Label,
};
use serde::{Deserialize, Serialize};

use crate::{
    actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node},
    service::in_flight,
    stores::begun,
};

pub use crate::service::answers;

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

/// A service that did it, with this receipt.
#[must_use]
pub fn receipt(text: &str) -> impl Perform<Action> + 'static {
    answers(Ok(Applied::new(text)))
}

/// A mail that a person has declared not sent, and whose receipt came after that.
pub async fn contradicted(store: &Store, to: &str) -> Id {
    let (running, permit) = begun(store, mail(to)).await;
    let id = running.id();
    let call = in_flight(permit).await;
    let doubt = store.fence(id, "overdue", graph_runner()).await.unwrap();
    drop(store.override_not_applied(doubt, "not sent", ann()).await.unwrap());
    let outcome = call.answer(Ok(Applied::new("250 queued"))).await;
    drop(store.settle(running, outcome, tool_node()).await.unwrap_err());
    // Evidence that could not be written at once is written in the background.
    while Label::of(&store.load::<AnyExecution>(id).await.unwrap()) != Label::Contradicted {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    id
}

/// A question to a person, asked but not answered.
pub fn asked(question: &str) -> Execution<Waiting> {
    asked_in(Contract::ecs_request(question, reasoning_node()).unwrap())
}

/// Asks in a given contract.
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
        /// The verdict.
        verdict: String,
        /// The answer.
        answer: f64,
    },
}

/// A lease on a resource with one user at a time: a plain machine for other crates to drive.
#[machine(on(revoke(reason) => Ended, from = Held))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
        /// The holder.
        holder: String,
    },
    /// In use, close to expiry.
    #[group(Held)]
    #[on(renew(seconds) => Granted)]
    Expiring {
        /// The holder.
        holder: String,
    },
    /// Over.
    #[terminal]
    Ended {
        /// The reason.
        reason: String,
    },
}

/// A tool whose receipt is text: its arguments, its name, and its effect.
#[macro_export]
macro_rules! tool {
    ($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),* }
        = $service:literal, $method:literal, $effect:ty $(, $item:item)*) => {
        #[derive(Debug, Clone, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        #[allow(missing_docs, reason = "a tool of a test")]
        pub(crate) struct $name {
            $($(#[$attribute])* pub(crate) $field: $type),*
        }

        impl ::machine::contract::Tool for $name {
            const SERVICE: &'static str = $service;
            const METHOD: &'static str = $method;
            type Effect = $effect;
            type Receipt = String;
            type Refusal = String;
            $($item)*
        }
    };
}

/// A version of a program: a module with its machine, whose other options are in brackets.
#[macro_export]
macro_rules! version {
    ($(#[$attribute:meta])* $vis:vis mod $module:ident [$($option:tt)*] enum $name:ident
        { $($states:tt)* }) => {
        $(#[$attribute])*
        $vis mod $module {
            use ::machine::machine;
            use ::serde::{Deserialize, Serialize};

            #[allow(unused_imports, reason = "some versions name what their file imports")]
            use super::*;

            #[machine(durable, $($option)*)]
            #[derive(Debug, Clone, Serialize, Deserialize)]
            pub(crate) enum $name { $($states)* }
        }
    };
}
