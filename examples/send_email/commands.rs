//! The commands of people and of the agent: they record what was decided, and the worker does it.

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, anyhow};
use jiff::SignedDuration;
use machine::{
    Id,
    actor::Actors,
    contract::{
        AnyExecution, Contract, Gate, Planned,
        execution::{Failed, Pending},
    },
    store::{CommitError, LoadError, Store},
    typed::{Refused, State},
};
use mailin::response;

use crate::{
    Command, Decided, Found,
    mail::{SendMail, Smtp},
    server::SmtpServer,
    show::{self, say},
    work::work,
};

/// What a command needs.
pub struct Desk {
    store: Store,
    actors: Actors,
}

impl Desk {
    pub async fn open(db: &Path, actors: Actors) -> anyhow::Result<Self> {
        Ok(Self { store: Store::sqlite(db).await?, actors })
    }

    pub async fn run(self, command: Command, db: &Path) -> anyhow::Result<()> {
        let (store, runner) = (&self.store, &self.actors.graph_runner);
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
                self.answer(id, async |gate| store.approve(gate, &by).await).await?;
                say(format_args!("    next: run `work` to send it, if nobody does"));
                Ok(())
            }
            Command::Decline { decided: Decided { id, by }, reason } => {
                self.answer(id, async |gate| store.decline(gate, &reason, &by).await).await
            }
            Command::Withdraw { id } => {
                let reason = "nobody needs to answer any more";
                self.answer(id, async |gate| store.withdraw(gate, reason, runner).await).await
            }
            Command::Retry(decided) => self.retry(decided).await,
            Command::Settle { decided, found, overridden } => {
                self.settle(decided, found, overridden).await
            }
            Command::Fence { id } => {
                drop(store.fence(id, "its process was shut out", runner).await?);
                self.show(id).await
            }
            Command::Cancel { id } => {
                let pending = self.load::<Pending>(id).await?;
                drop(store.cancel(pending, "cancelled", &self.actors.tool_node).await?);
                self.show(id).await
            }
            Command::Requeue { id } => {
                store.requeue(id, &[]).await?;
                self.show(id).await
            }
            Command::Status { all } => show::status(store, all).await,
            Command::Work { smtp, lease, once } => {
                let address = match smtp {
                    Some(address) => address,
                    None => SmtpServer::start(&db.with_extension("mails"), |_| response::OK)
                        .context("cannot start an SMTP server on loopback; pass one with --smtp")?
                        .address(),
                };
                let lease = lease.unsigned_abs();
                work(&self.store, self.actors, Smtp { address }, lease, once).await
            }
        }
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

    /// Answers a question. The worker sends the mail behind it, or ends it.
    async fn answer<T>(
        &self,
        id: Id,
        answer: impl AsyncFnOnce(Gate) -> Result<T, Refused<Gate, CommitError>>,
    ) -> anyhow::Result<()> {
        match answer(self.gate(id).await?).await {
            Ok(_) => self.show(id).await,
            // If another person was faster, `gate` says who.
            Err(refused) => Err(self.gate(id).await.err().unwrap_or(refused.reason.into())),
        }
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
        self.show(again.id()).await
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
        match found {
            Found::Sent => drop(store.confirm_applied(doubt, "a person found it", &by).await?),
            Found::NotSent if overridden => {
                drop(store.override_not_applied(doubt, reason, &by).await?);
            }
            Found::NotSent => drop(store.confirm_not_applied(doubt, reason, &by).await?),
        }
        self.show(id).await
    }

    /// Its outcome.
    async fn show(&self, id: Id) -> anyhow::Result<()> {
        show::execution(&self.store.load(id).await?);
        Ok(())
    }

    /// The mail with this id, if it is in this state.
    async fn load<S: State<Any = AnyExecution>>(&self, id: Id) -> anyhow::Result<S::Machine> {
        S::narrow(self.store.load(id).await?).map_err(|other| {
            anyhow!("{id} is {}; `status` shows what you can do", show::label(&other))
        })
    }
}

fn agreed(question: &str) -> anyhow::Result<bool> {
    say(format_args!("{question}\n[y/N]"));
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("cannot read the answer; pass --yes instead")?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}
