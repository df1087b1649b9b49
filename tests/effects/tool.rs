//! The tools of these tests, and the service that performs them as a script says.

use std::net::SocketAddr;

use machine_tests::process::{die, freeze, say, wait};
use serde::{Deserialize, Serialize};

use crate::effects::{
    bank::{self, Bank, Payment},
    prelude::*,
};

/// Pays. What the bank was sent can no longer take effect after the process has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[serde(deny_unknown_fields)]
#[tool(bank.pay, irreversible, timeout = None, settling_time = Duration::ZERO)]
pub(crate) struct Pay {
    pub(crate) to: String,
    pub(crate) amount: u64,
}

/// A contract to pay 10 to `to`.
pub(crate) fn pay(to: &str) -> Contract {
    Contract::of(&Pay { to: to.to_owned(), amount: 10 }, reasoning_node()).unwrap()
}

/// A step of what a service does during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Pays at the bank, and waits for its reply.
    Pay,
    /// Ends the call without a payment if the permit is no longer valid.
    AskIfValid,
    /// Lets the parent stop the process with SIGSTOP.
    Freeze,
    /// Says to the parent that it got here.
    Say,
    /// Waits for the parent.
    Wait,
    /// Fails with an error.
    Fail,
    Panic,
    /// Never answers.
    Hang,
    /// Kills the process with SIGKILL.
    Die,
}

/// A service with a connection to the bank.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Teller {
    pub(crate) bank: SocketAddr,
    script: Vec<Step>,
    /// Its worker tries to begin until the gate is answered.
    pub(crate) waits_for_approval: bool,
    /// Its worker ends at the timeout, and drops the call.
    pub(crate) leaves_at_timeout: bool,
}

impl Teller {
    pub(crate) fn new(bank: &Bank, script: &[Step]) -> Self {
        Self {
            bank: bank.address(),
            script: script.to_owned(),
            waits_for_approval: false,
            leaves_at_timeout: false,
        }
    }

    /// One that pays and answers.
    pub(crate) fn pays(bank: &Bank) -> Self {
        Self::new(bank, &[Step::Pay])
    }

    async fn follow<T: Send + Sync>(&self, call: &Call<T>, payment: Payment) -> Answer {
        let mut receipt = None;
        for step in &self.script {
            match step {
                // On a separate thread, as a client with a connection pool does: a sent request is
                // not taken back if the call is dropped.
                Step::Pay => {
                    let (bank, payment) = (self.bank, payment.clone());
                    let paid = tokio::task::spawn_blocking(move || bank::pay(bank, payment));
                    receipt = Some(paid.await??);
                }
                Step::AskIfValid => {
                    if !call.still_valid().await {
                        return Err(NoReceipt::not_applied("the permit is no longer valid"));
                    }
                }
                Step::Freeze => freeze(),
                Step::Say => say(&"in the call"),
                Step::Wait => drop(tokio::task::spawn_blocking(wait).await),
                Step::Fail => Err(std::io::Error::other("connection reset"))?,
                // A panic, without its message between those of the tests.
                Step::Panic => std::panic::resume_unwind(Box::new("as the script says")),
                Step::Hang => std::future::pending().await,
                Step::Die => die(),
            }
        }
        receipt.ok_or_else(|| NoReceipt::unknown("no receipt"))
    }
}

impl Payment {
    pub(crate) fn of(call: &Call<Pay>) -> Self {
        let Pay { to, amount } = &call.arguments;
        Self::with(call, to, *amount)
    }

    fn with<T>(call: &Call<T>, to: &str, amount: u64) -> Self {
        let key = call.key.as_ref().unwrap().to_string();
        Self { key, token: call.token.to_string(), to: to.to_owned(), amount }
    }
}

impl Perform<Pay> for Teller {
    async fn perform(&self, call: &Call<Pay>) -> Answer {
        self.follow(call, Payment::of(call)).await
    }

    async fn find(&self, attempt: &Attempt<Pay>) -> Answer {
        bank::find(self.bank, attempt.key.as_ref().unwrap().as_str())
    }
}

/// For tools that are known at run time only.
impl Perform<Action> for Teller {
    async fn perform(&self, call: &Call<Action>) -> ToolAnswer<Action> {
        let arguments = &call.arguments.detail()["args"];
        let to = arguments["to"].as_str().unwrap();
        let amount = arguments["amount"].as_u64().unwrap_or(0);
        let answer = self.follow(call, Payment::with(call, to, amount)).await;
        answer.map_err(|it| it.map(Into::into))
    }

    async fn find(&self, attempt: &Attempt<Action>) -> ToolAnswer<Action> {
        let found = bank::find(self.bank, attempt.key.as_ref().unwrap().as_str());
        found.map_err(|it| it.map(Into::into))
    }
}
