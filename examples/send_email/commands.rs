//! The subcommands.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use anyhow::{Context, anyhow, bail};
use jiff::SignedDuration;
use machine::{
    Id,
    actor::Actors,
    contract::{
        AnyExecution, Contract, Gate, Planned, Settled,
        execution::{Failed, Pending},
    },
    store::{CommitError, LoadError, Query, Store},
    typed::{Refused, State},
};
use mailin::response;

use crate::{
    Command, Decided, Found,
    mail::{SendMail, Smtp},
    server::SmtpServer,
    show::{self, say},
};

/// What a command needs.
pub struct Desk {
    store: Store,
    actors: Actors,
    db: PathBuf,
    smtp: Option<String>,
}

impl Desk {
    pub async fn open(db: PathBuf, smtp: Option<String>, actors: Actors) -> anyhow::Result<Self> {
        Ok(Self { store: Store::sqlite(&db).await?, actors, db, smtp })
    }

    pub async fn run(&self, command: Command) -> anyhow::Result<()> {
        let (store, runner) = (&self.store, &self.actors.graph_runner);
        // `status` shows what is in doubt by itself, and first.
        self.recover(!matches!(command, Command::Status { .. })).await?;
        match command {
            Command::Ask { mail, json, expires, timeout } => {
                let json = json.as_deref().map(serde_json::from_str).transpose();
                let mail = json.context("this JSON is not a mail")?.or(mail);
                self.ask(mail.context("pass a mail")?, expires, timeout).await
            }
            Command::Approve { decided: Decided { id, by }, yes } => {
                if !yes && !agreed(self.gate(id).await?.question())? {
                    say(format_args!("nothing was changed; it still waits"));
                    return Ok(());
                }
                let mail = self.answer(id, async |gate| store.approve(gate, &by).await).await?;
                self.send(mail).await
            }
            Command::Decline { decided: Decided { id, by }, reason } => {
                let declined =
                    self.answer(id, async |gate| store.decline(gate, &reason, &by).await);
                self.cancel(declined.await?, &reason).await
            }
            Command::Withdraw { id } => {
                let reason = "nobody needs to answer any more";
                let withdrawn =
                    self.answer(id, async |gate| store.withdraw(gate, reason, runner).await);
                self.cancel(withdrawn.await?, reason).await
            }
            Command::Send { id } => self.send(id).await,
            Command::Retry(decided) => self.retry(decided).await,
            Command::Settle { decided, found, overridden } => {
                self.settle(decided, found, overridden).await
            }
            Command::Fence { id } => {
                show::doubt(&store.fence(id, "its process was shut out", runner).await?);
                Ok(())
            }
            Command::Cancel { id } => self.cancel(id, "cancelled").await,
            Command::Status { all } => show::status(store, all).await,
        }
    }

    /// What earlier processes left behind: every command begins with it.
    async fn recover(&self, show_doubts: bool) -> anyhow::Result<()> {
        let found = self.store.recover().await?;
        found.in_doubt.iter().filter(|_| show_doubts).for_each(show::doubt);
        // Their processes were given up on, and have answered since.
        found.settled.iter().for_each(show::execution);
        // Idempotent calls could simply run again; this program has none.
        found.interrupted.into_iter().for_each(|running| show::execution(&running.into()));
        // One that cannot be read does not keep the others from being used.
        found.failed.iter().for_each(|(_, error)| say(format_args!("unreadable: {error}")));

        let due = self.store.list(&Query::new().due()).await?;
        for line in due.items.into_iter().flatten() {
            let runner = &self.actors.graph_runner;
            let expired =
                self.answer(line.id, async |gate| self.store.expire(gate, runner).await).await;
            // Or another process was faster.
            if let Ok(mail) = expired {
                self.cancel(mail, "nobody approved it in time").await.ok();
            }
        }
        Ok(())
    }

    /// The reasoner asks for a mail. The question and the mail that waits for its answer are one
    /// batch, and then the process ends.
    async fn ask(
        &self,
        mail: SendMail,
        expires: Option<SignedDuration>,
        timeout: Option<SignedDuration>,
    ) -> anyhow::Result<()> {
        let mut contract = Contract::of(&mail, &self.actors.reasoning_node)?;
        if let Some(timeout) = timeout {
            contract = contract.timeout_after(timeout.unsigned_abs());
        }
        let expires = expires.map(SignedDuration::unsigned_abs);
        let (mut gate, mut mail) = contract.ask::<SendMail>(expires, &self.actors.ecs_node)?;
        self.store.ask(&mut gate, &mut mail).await?;
        show::question(&gate);
        Ok(())
    }

    /// Answers a question, and returns the mail that waits for the answer.
    async fn answer<T>(
        &self,
        id: Id,
        answer: impl AsyncFnOnce(Gate) -> Result<T, Refused<Gate, CommitError>>,
    ) -> anyhow::Result<Id> {
        let gate = self.gate(id).await?;
        let mail = gate.approval().execution();
        match answer(gate).await {
            Ok(_) => show::execution(&self.store.load(id).await?),
            // If another person was faster, `gate` says who.
            Err(refused) => return Err(self.gate(id).await.err().unwrap_or(refused.reason.into())),
        }
        Ok(mail)
    }

    /// The question with this id; an error if it was answered, with who did, and when.
    async fn gate(&self, id: Id) -> anyhow::Result<Gate> {
        self.store.gate(id).await.map_err(|error| match error {
            LoadError::AlreadyDecided { at, .. } => {
                anyhow::Error::new(error).context(format!("answered at {}", show::time(at)))
            }
            other => other.into(),
        })
    }

    /// A person wants another attempt: a new execution with the same key.
    async fn retry(&self, Decided { id, by }: Decided) -> anyhow::Result<()> {
        let failed = self.load::<Failed>(id).await?;
        let mut again = Planned::<SendMail>::retry(&failed, &by)?;
        self.store.plan(&mut again).await?;
        self.send(again.id()).await
    }

    /// The irreversible step: under a permit, which exists once.
    async fn send(&self, id: Id) -> anyhow::Result<()> {
        let mail = self.store.planned::<SendMail>(id).await?;
        let settled = self.store.perform(mail, self.smtp()?, &self.actors.tool_node);
        match settled.await? {
            Settled::Completed(sent) => {
                show::execution(&sent.into());
                Ok(())
            }
            Settled::Failed(failed) => {
                show::execution(&failed.into());
                bail!("the mail was not sent; to try again: retry {id} --as NAME")
            }
            Settled::InDoubt(doubt) => {
                show::doubt(&doubt);
                bail!("nobody knows whether the mail was sent")
            }
            // The call is still running, and its receipt counts even if it is late.
            Settled::TimedOut(_, call) | Settled::Fenced(_, call) => {
                say(format_args!("{id}  no answer in time; still waiting for it"));
                call.await.map_err(anyhow::Error::from_boxed)?;
                bail!("the answer came late; the next command takes it into account")
            }
        }
    }

    /// A person looked into the mailbox.
    async fn settle(
        &self,
        Decided { id, by }: Decided,
        found: Found,
        overridden: bool,
    ) -> anyhow::Result<()> {
        let (store, doubt) = (&self.store, self.store.in_doubt(id).await?);
        let reason = "a person found no mail";
        let settled: AnyExecution = match found {
            Found::Sent => store.confirm_applied(doubt, "a person found it", &by).await?.into(),
            Found::NotSent if overridden => {
                store.override_not_applied(doubt, reason, &by).await?.into()
            }
            Found::NotSent => store.confirm_not_applied(doubt, reason, &by).await?.into(),
        };
        show::execution(&settled);
        Ok(())
    }

    /// A mail whose question was not approved, or that lost its key to another attempt.
    async fn cancel(&self, id: Id, reason: &str) -> anyhow::Result<()> {
        let pending = self.load::<Pending>(id).await?;
        let cancelled = self.store.cancel(pending, reason, &self.actors.tool_node).await?;
        show::execution(&cancelled.into());
        Ok(())
    }

    /// The mail with this id, if it is in this state.
    async fn load<S: State<Any = AnyExecution>>(&self, id: Id) -> anyhow::Result<S::Machine> {
        S::narrow(self.store.load(id).await?).map_err(|other| {
            anyhow!("{id} is {}; `status` shows what you can do", show::label(&other))
        })
    }

    fn smtp(&self) -> anyhow::Result<Smtp> {
        let address = match &self.smtp {
            Some(address) => address.clone(),
            None => SmtpServer::start(&self.db.with_extension("mails"), |_| response::OK)
                .context("cannot start an SMTP server on loopback; pass one with --smtp")?
                .address(),
        };
        Ok(Smtp { address })
    }
}

fn agreed(question: &str) -> anyhow::Result<bool> {
    say(format_args!("{question}\n[y/N]"));
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("cannot read the answer; pass --yes instead")?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
