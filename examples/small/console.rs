//! A program with the console built in. `console file 17 500` files a claim, `console list` shows
//! the command that approves it, and `console work` pays what was approved.

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory, Parser, Subcommand};
use machine::prelude::*;
use machine_console::cli::{self, Context};
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Claim {
    #[initial]
    #[invoke(refund, approve, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Refused)]
    Asked { refund: Refund },
    #[terminal]
    Paid {
        #[audience(human)]
        receipt: String,
    },
    #[terminal]
    Refused {
        #[audience(human)]
        why: CallError,
    },
}

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, Tool)]
#[tool(bank.refund, irreversible, identity = order)]
struct Refund {
    order: u32,
    cents: u32,
}

struct Bank; // your client

impl Perform<Refund> for Bank {
    async fn perform(&self, call: &Call<Refund>) -> Answer {
        Ok(Applied::new(format!("transfer for order {}", call.arguments.order)))
    }
}

/// Refunds that a person approves.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The database.
    #[arg(long, global = true, value_name = "FILE", default_value = "claims.db")]
    db: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// File a claim.
    File(Refund),
    /// Pay what was approved.
    Work,
    /// The commands for people: list, show, approve, and everything else that the library offers.
    #[command(flatten)]
    Operate(cli::Command),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    run(Cli::parse()).await
}

async fn run(Cli { command, db }: Cli) -> anyhow::Result<ExitCode> {
    let actors = Actors::issue("desk")?;
    match command {
        Command::File(refund) => {
            Store::sqlite(&db).await?.create(&mut Claim::new(refund)).await?;
        }
        Command::Work => {
            let store = Store::sqlite(&db).await?;
            let worker = Worker::new(&store, actors).machine::<AnyClaim>().tool(Bank);
            worker.run_until_idle().await?;
        }
        Command::Operate(command) => {
            let context = Context::new(db, actors).program(Cli::command());
            return Ok(cli::run(command, &context).await);
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use machine::observe::Observer;

    use super::*;

    /// Runs the program with these words.
    async fn console(db: &Path, words: &str) -> anyhow::Result<()> {
        let mut cli = Cli::parse_from(["console"].into_iter().chain(words.split(' ')));
        db.clone_into(&mut cli.db);
        assert_eq!(run(cli).await?, ExitCode::SUCCESS, "{words}");
        Ok(())
    }

    #[tokio::test]
    async fn a_person_approves_on_the_command_line() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let db = folder.path().join("claims.db");
        console(&db, "file 17 500").await?;
        console(&db, "work").await?;
        let store = Store::sqlite(&db).await?;
        let asked = Observer::new(&store).approvals(&Query::new()).await?.items;
        console(&db, &format!("approve {} --as ann --yes", asked[0].gate)).await?;
        console(&db, "work").await?;
        let claims = store.load_all::<AnyClaim>(&Query::new()).await?.items;
        let [Ok(AnyClaim::Paid(claim))] = &claims[..] else { panic!("{claims:?}") };
        assert_eq!(claim.state().receipt, "transfer for order 17");
        Ok(())
    }
}
