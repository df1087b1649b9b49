//! The subcommands.

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, bail};
use machine::{
    Id,
    actor::{EcsNode, GraphRunner, ReasoningNode, ToolNode},
    contract::{
        AnyExecution, Contract, Execution, Settled, Tool, defer,
        execution::{Pending, Waiting},
    },
    store::{LoadError, Query, Store},
    typed::State,
};

use crate::{
    Command, Found, MailArguments, Smtp,
    mail::{self, Mail},
    server::{SmtpServer, TakeAll},
    show,
};

pub async fn run(command: Command) -> anyhow::Result<()> {
    let store = Store::sqlite(command.db()).await?;
    // Every command first reports what earlier processes left in doubt.
    let recovered = store.recover().await?;
    if !matches!(command, Command::Settle { .. }) {
        for doubt in &recovered.in_doubt {
            show::doubt(&store, doubt).await?;
        }
    }
    // One that cannot be read does not keep the others from being used.
    recovered.failed.iter().for_each(|(_, error)| show::unreadable(error));
    match command {
        Command::Ask { mail, timeout, .. } => ask(&store, mail, timeout).await,
        Command::Approve { at, smtp, id, yes } => {
            approve(&store, &Mailer::new(smtp, &at.db)?, id, yes).await
        }
        Command::Reject { id, reason, .. } => reject(&store, id, reason).await,
        Command::Retry { at, smtp, id } => retry(&store, &Mailer::new(smtp, &at.db)?, id).await,
        Command::Settle { id, found, .. } => settle(&store, id, found).await,
        Command::Status { .. } => show::status(&store).await,
    }
}

/// The reasoner asks for a mail. It makes two contracts: the question and the deferred mail.
async fn ask(store: &Store, arguments: MailArguments, timeout: Option<u64>) -> anyhow::Result<()> {
    let detail = match arguments {
        MailArguments { detail: Some(detail), .. } => detail,
        MailArguments { to, subject, body, .. } => {
            let mail = Mail { to: to.unwrap_or_default(), subject, body };
            serde_json::to_string(&mail)?
        }
    };
    let email = Tool::irreversible("email", "send")?;
    let mut contract = Contract::tool_call(&email, &detail, &ReasoningNode)?;
    let mail = Mail::of(&contract)?;
    contract = contract.about(&mail.to);
    if let Some(seconds) = timeout {
        contract = contract.timeout_seconds(seconds);
    }

    let question = format!("Send \"{}\" to {}?", mail.subject, mail.to);
    let (gate, mut deferred) = defer(contract, &question, &ReasoningNode)?;
    let mut waiting = gate.start(&EcsNode).suspend(question, &EcsNode);
    // Both, or neither: a mail without its question would wait forever.
    store.batch().create(&mut waiting).create(&mut deferred).write().await?;

    show::transitions(store, waiting.id()).await?;
    show::say(format_args!("{}", waiting.state().prompt));
    show::say(format_args!("  yes: approve --db FILE {}", waiting.id()));
    show::say(format_args!("  no:  reject --db FILE {}", waiting.id()));
    Ok(())
}

/// The person said yes: the question completes, then the mail goes out.
async fn approve(store: &Store, mailer: &Mailer, id: Option<Id>, yes: bool) -> anyhow::Result<()> {
    let id = the_question(store, id).await?;
    if let AnyExecution::Completed(gate) = store.load(id).await?
        && let Some(approved) = behind::<Pending>(store, id).await?
    {
        show::say(format_args!("{} was approved before, and not sent yet", gate.id()));
        return send(store, mailer, approved).await;
    }
    let waiting = store.resume::<Waiting>(id).await?;
    if !yes && !agreed(&waiting.state().prompt)? {
        show::say(format_args!("nothing was changed; it still waits"));
        return Ok(());
    }
    let mut confirmed =
        waiting.resume(&GraphRunner).succeed("the person said yes".to_owned(), &GraphRunner);
    store.commit(&mut confirmed).await?;
    show::transitions(store, confirmed.id()).await?;

    match behind::<Pending>(store, id).await? {
        Some(approved) => send(store, mailer, approved).await,
        None => Ok(()),
    }
}

/// The person said no: the question is rejected, and the mail never runs.
async fn reject(store: &Store, id: Option<Id>, reason: String) -> anyhow::Result<()> {
    let id = the_question(store, id).await?;
    let waiting = store.resume::<Waiting>(id).await?;
    let mut rejected = waiting.resume(&GraphRunner).reject(reason, &GraphRunner);
    store.commit(&mut rejected).await?;
    show::transitions(store, rejected.id()).await?;
    show::consequence(&rejected.into());
    Ok(())
}

/// Another attempt at a mail that failed: a new contract with the same key.
async fn retry(store: &Store, mailer: &Mailer, id: Id) -> anyhow::Result<()> {
    let failed = match store.load(id).await? {
        AnyExecution::Failed(failed) => failed,
        // An attempt whose process ended before it began.
        AnyExecution::Pending(again) if again.context().retry_of().is_some() => {
            return send(store, mailer, again).await;
        }
        other => bail!(
            "{id} is {}; only a FAILED mail can be retried, see `status`",
            other.status().definition().label
        ),
    };
    let mut again = Execution::new(Contract::retry(&failed, &ReasoningNode));
    store.create(&mut again).await?;
    send(store, mailer, again).await
}

/// The person checked whether the mail arrived.
async fn settle(store: &Store, id: Id, found: Found) -> anyhow::Result<()> {
    let doubt = store.in_doubt(id).await?;
    let settled: AnyExecution = match found {
        Found::Sent => {
            store.confirm_applied(doubt, "a person found the mail", &GraphRunner).await?.into()
        }
        Found::NotSent => {
            let reason = "a person checked: no mail arrived";
            store.confirm_not_applied(doubt, reason, &GraphRunner).await?.into()
        }
    };
    show::transitions(store, settled.id()).await?;
    show::consequence(&settled);
    Ok(())
}

/// The irreversible step: the permit exists once, and only after the intent is on disk.
async fn send(store: &Store, mailer: &Mailer, approved: Execution<Pending>) -> anyhow::Result<()> {
    let mail = Mail::of(approved.context())?;
    let (running, permit) = store.begin(approved, &ToolNode).await?;
    let outcome = permit.call(|permit| mail::send(permit, &mail, &mailer.address)).await;
    match store.settle(running, outcome, &ToolNode).await? {
        Settled::Completed(sent) => {
            show::transitions(store, sent.id()).await?;
            show::consequence(&sent.into());
            Ok(())
        }
        Settled::Failed(failed) => {
            let id = failed.id();
            show::transitions(store, id).await?;
            show::consequence(&failed.into());
            bail!("the mail was not sent; to try again: retry --db FILE {id}")
        }
        Settled::InDoubt(doubt) => {
            show::doubt(store, &doubt).await?;
            bail!("it is unknown whether the mail was sent")
        }
    }
}

/// The question with this id or, without an id, the only one that waits.
async fn the_question(store: &Store, id: Option<Id>) -> anyhow::Result<Id> {
    if let Some(id) = id {
        return Ok(id);
    }
    // Two are enough to know that there are several.
    let page = store.list(&Query::new().status("waiting").limit(2)).await?;
    let mut waiting = page.items.into_iter();
    match (waiting.next().transpose()?, waiting.next()) {
        (Some(only), None) => Ok(only.id),
        (None, _) => bail!("no question waits for an answer; see `status`"),
        (Some(_), Some(_)) => {
            bail!("several questions wait for an answer; pass an id from `status`")
        }
    }
}

/// The execution that waits behind a gate, if it is in state `S`.
async fn behind<S>(store: &Store, gate: Id) -> Result<Option<S::Machine>, LoadError>
where
    S: State<Any = AnyExecution>,
{
    let page = store.load_all(&Query::new().behind(gate).limit(1)).await?;
    match page.items.into_iter().next() {
        Some(deferred) => Ok(S::narrow(deferred?).ok()),
        None => Ok(None),
    }
}

fn agreed(question: &str) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    writeln!(out, "{question} [y/N]")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).context("cannot read the answer; pass --yes instead")?;
    Ok(matches!(answer.trim(), "y" | "yes"))
}

/// Where mails go.
struct Mailer {
    address: String,
}

impl Mailer {
    fn new(smtp: Smtp, db: &Path) -> anyhow::Result<Self> {
        let address = match smtp.smtp {
            Some(address) => address,
            None => SmtpServer::start(&db.with_extension("mails"), TakeAll)
                .context("cannot start an SMTP server on loopback; pass one with --smtp")?
                .address(),
        };
        Ok(Self { address })
    }
}
