//! Contracts and machines shared by many tests.

use crate::actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node};
use machine::{
    Id,
    actor::EcsNode,
    contract::{
        Action, Answer, AnyExecution, Applied, Call, Contract, Execution, Perform, ToolSpec,
        execution::{Pending, Waiting},
        service_fn,
    },
    machine,
    store::Store,
    view::Label,
};
use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};

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

/// A mail that a person has declared not sent, and whose receipt came after that.
pub async fn contradicted(store: &Store, to: &str) -> Id {
    let mut pending = pending_mail(to);
    store.create(&mut pending).await.unwrap();
    let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
    let id = running.id();
    let may_answer = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&may_answer);
    let service =
        service_fn(move |_call: &Call<Action>| {
            let answers = Arc::clone(&answers);
            let receipt = move || Poll::Ready(Ok(Applied::new("250 queued")));
            Box::pin(poll_fn(move |_| {
                if answers.load(Ordering::SeqCst) { receipt() } else { Poll::Pending }
            }))
        });
    let mut call = permit.call(service);
    let begun = poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending()));
    assert!(begun.await, "it has answered");
    let doubt = store.fence(id, "overdue", graph_runner()).await.unwrap();
    drop(store.override_not_applied(doubt, "not sent", ann()).await.unwrap());
    may_answer.store(true, Ordering::SeqCst);
    let outcome = call.await;
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
        /// Why.
        reason: String,
    },
}
