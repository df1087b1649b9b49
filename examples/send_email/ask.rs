//! The agent: it asks for a mail, and its process ends.

use std::time::Duration;

use anyhow::Context;
use clap::Args;
use machine::{actor::Actors, contract::Contract, observe::Observer, store::Store};
use machine_console::cli;

use crate::{mail::SendMail, show};

/// The request of the agent.
#[derive(Debug, Args)]
pub struct Ask {
    #[command(flatten)]
    mail: Option<SendMail>,
    /// The whole mail as JSON, as a model writes it.
    #[arg(
        long,
        value_name = "JSON",
        conflicts_with = "SendMail",
        required_unless_present = "SendMail"
    )]
    json: Option<String>,
    /// The approval has to be given, and used, within this time, such as `1h`.
    #[arg(long, value_name = "TIME", value_parser = cli::duration)]
    expires: Option<Duration>,
    /// The time to wait for the mail server, such as `10s`.
    #[arg(long, value_name = "TIME", value_parser = cli::duration)]
    timeout: Option<Duration>,
    /// The session of the mail.
    #[arg(long)]
    session: Option<String>,
}

/// The question and the mail that waits for its answer are one batch.
pub async fn ask(
    store: &Store,
    actors: &Actors,
    context: &cli::Context,
    asked: Ask,
) -> anyhow::Result<()> {
    let json = asked.json.as_deref().map(serde_json::from_str).transpose();
    let mail = json.context("this JSON is not a mail")?.or(asked.mail).context("pass a mail")?;
    let mut contract = Contract::of(&mail, &actors.reasoning_node)?;
    if let Some(session) = asked.session {
        contract = contract.session(session);
    }
    if let Some(timeout) = asked.timeout {
        contract = contract.timeout_after(timeout);
    }
    let expires = asked.expires;
    let (mut gate, mut mail) = contract.ask::<SendMail>(expires, &actors.ecs_node)?;
    store.ask(&mut gate, &mut mail).await?;
    let gate = store.load(gate.id()).await?;
    Ok(show::execution(context, &Observer::new(store), &gate).await?)
}
