// Decisions about irreversible calls belong to people. Functions are named after the mistakes.

use machine::actor::{GraphRunner, ReasoningNode, ToolNode};
use machine::contract::execution::{Completed, Failed, Running};
use machine::contract::{
    Contract, Execution, Gate, Irreversible, Perform, Planned, Tool,
};
use machine::journal::Digest;
use machine::store::Store;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Serialize, Deserialize)]
struct SendMail {
    to: String,
}

impl Tool for SendMail {
    const SERVICE: &'static str = "email";
    const METHOD: &'static str = "send";
    type Effect = Irreversible;
    type Receipt = String;
    type Refusal = String;
}

// Only a person approves.
async fn approve_without_a_person(store: Store, gate: Gate, shown: Digest, by: &GraphRunner) {
    let _approved = store.approve(gate, shown, by).await;
}

// Only the decision of a person completes a gate.
fn gate_resumed_by_the_asker(gate: Gate, by: &GraphRunner) {
    let _approved = gate.into_execution().resume(by).succeed("yes".to_owned(), by);
}

// A reasoner cannot repeat an action by giving it another name.
fn occurrence_of_a_reasoner(reminder: Contract, by: &ReasoningNode) {
    let _again = reminder.occurrence("once more", by);
}

// A person decides about a retry, even if the type of the tool is unknown.
fn retry_decided_by_a_reasoner(failed: &Execution<Failed>, by: &ReasoningNode) -> Contract {
    Contract::retry(failed, by)
}

// An irreversible action is repeated only by decision of a person.
fn repeat_irreversible(sent: &Execution<Completed>, by: &ReasoningNode) {
    let _again = Planned::<SendMail>::repeat(sent, by);
}

// An irreversible call is not repeated, however often it fails.
async fn retries_of_an_irreversible<P: Perform<SendMail> + 'static>(
    store: Store,
    mail: Planned<SendMail>,
    smtp: P,
    by: &ToolNode,
) {
    let _settled = store.perform_with_retries(mail, smtp, [Duration::ZERO], by).await;
}

// Only an idempotent call runs again after its worker ended.
async fn perform_again_irreversible<P: Perform<SendMail> + 'static>(
    store: Store,
    running: Execution<Running>,
    smtp: P,
    by: &ToolNode,
) {
    let _settled = store.perform_again::<SendMail>(running, smtp, by).await;
}

// An irreversible tool cannot start without a permit.
fn start_irreversible(mail: Planned<SendMail>, by: &ToolNode) {
    let _running = mail.start(by);
}

fn main() {}
