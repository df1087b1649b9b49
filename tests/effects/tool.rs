//! The tools of these tests, and the service that performs them as a script says.

use std::{net::SocketAddr, time::Duration};

use machine::contract::{
    Action, Answer, Applied, Attempt, Call, Contract, Idempotent, Irreversible, NotDone, Perform,
    Tool,
};
use machine_tests::actors::reasoning_node;
use serde::{Deserialize, Serialize};

use crate::effects::bank::{self, Bank, Payment, Reply, Request};
use crate::process::{die, freeze, say, wait};

/// Pays. What the bank was sent can no longer take effect after the process has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pay {
    pub(crate) to: String,
    pub(crate) amount: u64,
}

impl Tool for Pay {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "pay";
    type Effect = Irreversible;
    type Receipt = String;
    const TIMEOUT: Option<Duration> = None;
    const SETTLING_TIME: Duration = Duration::ZERO;
}

/// Asks for a payment. It pays too, which an idempotent tool should never do: so the bank
/// counts how often it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remind {
    pub(crate) to: String,
}

impl Tool for Remind {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "remind";
    type Effect = Idempotent;
    type Receipt = String;
    const TIMEOUT: Option<Duration> = None;
}

/// A contract to pay 10 to `to`.
pub(crate) fn pay(to: &str) -> Contract {
    Contract::of(&Pay { to: to.to_owned(), amount: 10 }, reasoning_node()).unwrap()
}

/// A contract to remind `to`.
pub(crate) fn remind(to: &str) -> Contract {
    Contract::of(&Remind { to: to.to_owned() }, reasoning_node()).unwrap()
}

/// A step of what a service does during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// Pays at the bank, and waits for its reply.
    Pay,
    /// Ends the call without a payment if the permit is not valid any more.
    AskIfValid,
    /// Lets the parent stop the process with SIGSTOP.
    Freeze,
    /// Says to the parent that it got here.
    Say,
    /// Waits for the parent.
    Wait,
    /// Answers that nothing happened.
    Refuse,
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
    bank: SocketAddr,
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
                Step::Pay => receipt = Some(self.pay(payment.clone()).await?),
                Step::AskIfValid => {
                    if !call.still_valid().await {
                        return Err(NotDone::not_applied("the permit is no longer valid"));
                    }
                }
                Step::Freeze => freeze(),
                Step::Say => say(&"in the call"),
                Step::Wait => drop(tokio::task::spawn_blocking(wait).await),
                Step::Refuse => return Err(NotDone::not_applied("the bank is closed")),
                Step::Fail => Err(std::io::Error::other("connection reset"))?,
                // A panic, without its message between those of the tests.
                Step::Panic => std::panic::resume_unwind(Box::new("as the script says")),
                Step::Hang => std::future::pending().await,
                Step::Die => die(),
            }
        }
        receipt.map(Applied::new).ok_or_else(|| NotDone::unknown("no receipt"))
    }

    /// Pays on a separate thread, as a client with a connection pool does: a sent request is not
    /// taken back if the call is dropped.
    async fn pay(&self, payment: Payment) -> Result<String, NotDone> {
        let bank = self.bank;
        let asked = move || bank::ask(bank, &Request::Pay(payment));
        match tokio::task::spawn_blocking(asked).await?? {
            Reply::Receipt(receipt) => Ok(receipt),
            Reply::Stale => Err(NotDone::not_applied("the bank has seen a higher token")),
            Reply::NotFound => Err(NotDone::unknown("an odd reply")),
        }
    }

    /// Asks the bank whether it paid under the key of this attempt.
    fn look<T>(&self, attempt: &Attempt<T>) -> Answer {
        match bank::ask(self.bank, &Request::Find(attempt.key().unwrap().to_string()))? {
            Reply::Receipt(receipt) => Ok(Applied::new(receipt)),
            _ => Err(NotDone::not_applied("the bank has not paid")),
        }
    }
}

fn payment<T>(call: &Call<T>, to: &str, amount: u64) -> Payment {
    let key = call.key().unwrap().to_string();
    Payment { key, token: call.token().to_string(), to: to.to_owned(), amount }
}

impl Perform<Pay> for Teller {
    async fn perform(&self, call: &Call<Pay>) -> Answer {
        let Pay { to, amount } = call.arguments();
        self.follow(call, payment(call, to, *amount)).await
    }

    async fn find(&self, attempt: &Attempt<Pay>) -> Answer {
        self.look(attempt)
    }
}

impl Perform<Remind> for Teller {
    async fn perform(&self, call: &Call<Remind>) -> Answer {
        self.follow(call, payment(call, &call.arguments().to, 0)).await
    }
}

/// For tools that are known at run time only.
impl Perform<Action> for Teller {
    async fn perform(&self, call: &Call<Action>) -> Answer {
        let arguments = &call.arguments().detail()["args"];
        let to = arguments["to"].as_str().unwrap();
        let amount = arguments["amount"].as_u64().unwrap_or(0);
        self.follow(call, payment(call, to, amount)).await
    }

    async fn find(&self, attempt: &Attempt<Action>) -> Answer {
        self.look(attempt)
    }
}
