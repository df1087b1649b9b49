//! The functions of the program in this process: a store in memory, virtual time, and a mail server
//! that answers as the test says.

use clap::{Args, Command};
use machine::{
    Id,
    actor::{Actors, Human},
    contract::AnyExecution,
    operate::Operator,
    store::Query,
    testing::{TestEnvironment, TestTool},
    view::{ExecutionTrace, Label},
    worker::Worker,
};
use machine_console::cli::Context;

use crate::{
    ask::{Ask, ask},
    invite::AnyInvitation,
    mail::SendMail,
};

/// The options of a mail to bob.
pub const BOB: &str = "--to bob@example.com";

/// The environment of one test.
pub struct Desk {
    pub kit: TestEnvironment,
    actors: Actors,
    ann: Human,
}

impl Desk {
    pub fn new(server: &TestTool<SendMail>) -> Self {
        let server = server.clone();
        Self::with(move |worker| worker.tool::<SendMail>(server.clone()))
    }

    /// A desk whose worker has the tool that `configure` gives it.
    pub fn with(configure: impl Fn(Worker) -> Worker + Send + Sync + 'static) -> Self {
        let kit = TestEnvironment::new(move |worker| configure(worker.machine::<AnyInvitation>()));
        let ann = kit.person("ann");
        Self { kit, actors: Actors::issue("mailer").unwrap(), ann }
    }

    /// Asks for a mail; returns the ids of the question and of the mail.
    pub async fn ask(&self, options: &str) -> anyhow::Result<(Id, Id)> {
        let context = Context::new("agent.db", Actors::issue("mailer")?);
        ask(self.kit.store(), &self.actors, &context, parse::<Ask>(options)?).await?;
        let newest = Query::new().newest_first();
        let asked = self.kit.observer().approvals(&newest).await?.items;
        Ok((asked[0].gate, asked[0].execution))
    }

    /// What the commands of the library do for a person.
    pub fn ann(&self) -> Operator<'_> {
        Operator::new(self.kit.store(), &self.actors, &self.ann, "cli")
    }

    pub async fn approve(&self, gate: Id) {
        let gates = self.ann().gates("approve", &[gate]).await.unwrap();
        let shown = gates.into_iter().map(|gate| {
            let digest = gate.whole_question().map(|question| question.digest);
            (gate, digest)
        });
        self.ann().approve(shown.collect()).await.unwrap();
    }

    pub async fn decline(&self, gate: Id, reason: &str) {
        let gates = self.ann().gates("decline", &[gate]).await.unwrap();
        self.ann().decline(gates, Some(reason)).await.unwrap();
    }

    /// Asks for a mail, and approves it; runs until nothing is ready.
    pub async fn approved(&self, options: &str) -> Id {
        let (gate, mail) = self.ask(options).await.unwrap();
        self.approve(gate).await;
        self.kit.run_until_idle().await;
        mail
    }

    /// Checks the label of an execution, and that its line has this text.
    pub async fn shows(&self, id: Id, label: Label, text: &str) {
        self.kit.assert_label(id, label).await;
        let shown = self.kit.consequence(id).await.to_string();
        assert!(shown.contains(text), "{shown}");
    }

    /// The steps of an execution: who made each, and what it was.
    pub async fn trace(&self, id: Id) -> Vec<String> {
        let execution = self.kit.load::<AnyExecution>(id).await;
        let history = self.kit.store().history(id).await.unwrap();
        let trace = ExecutionTrace::of(&[(execution.context(), history)], 50);
        trace.steps.iter().map(|step| format!("{} {}", step.node_id, step.action)).collect()
    }

    /// The number of machines in the store.
    pub async fn machines(&self) -> usize {
        self.kit.store().list(&Query::new()).await.unwrap().items.len()
    }

    /// The commands that a person can go on with.
    pub async fn next(&self, mail: Id) -> Vec<String> {
        let next = self.kit.observer().next(mail).await.unwrap();
        next.iter().map(ToString::to_string).collect()
    }
}

/// The arguments of a command, as the program reads them.
pub fn parse<T: Args>(options: &str) -> Result<T, clap::Error> {
    let command = T::augment_args(Command::new("send_email").no_binary_name(true));
    T::from_arg_matches(&command.try_get_matches_from(options.split_whitespace())?)
}
