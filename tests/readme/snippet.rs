//! The README's program.

use machine::{
    actor::{Actors, Human},
    contract::{Answer, Applied, Call, Contract, OrRefused, Perform, Settled, Tool},
    store::Store,
};
use serde::{Deserialize, Serialize};

struct Smtp;

impl Smtp {
    async fn send(&self, to: &str, subject: &str) -> std::io::Result<String> {
        tokio::task::yield_now().await;
        Ok(format!("250 queued {subject:?} for {to}"))
    }
}

fn address(text: &str) -> Result<&str, String> {
    if text.contains('@') { Ok(text) } else { Err(format!("{text} is not an address")) }
}

// [README
#[derive(Serialize, Deserialize, Tool)]
#[tool(email.send, irreversible)]
struct SendMail {
    to: String,
    subject: String,
}

/// The call has the arguments that were approved, as they are stored.
impl Perform<SendMail> for Smtp {
    async fn perform(&self, call: &Call<SendMail>) -> Answer {
        let mail = call.arguments();
        let to = address(&mail.to).or_refused()?; // nothing was sent
        Ok(Applied::new(self.send(to, &mail.subject).await?)) // `?` alone means unknown
    }
}
// README]

#[tokio::test]
#[allow(clippy::print_stdout, reason = "as in the README")]
async fn runs() -> Result<(), Box<dyn std::error::Error>> {
    if !machine_tests::is_alone("readme::snippet::runs") {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    std::env::set_current_dir(folder.path())?;

    // [README
    let actors = Actors::issue("assistant")?;
    let store = Store::sqlite("agent.db").await?;

    // The mail waits behind a question. Both are on disk, and the process may end.
    let mail = SendMail { to: "bob@example.com".to_owned(), subject: "Meeting".to_owned() };
    let contract = Contract::of(&mail, &actors.reasoning_node)?;
    let (mut gate, mut mail) = contract.ask::<SendMail>(None, &actors.ecs_node)?;
    store.ask(&mut gate, &mut mail).await?;

    // A person answers, in any process. The question is made from the action; only what was shown can be approved.
    let gate = store.gate(gate.id()).await?;
    let whole = gate.whole_question().ok_or("the mail cannot be read")?;
    println!("{}", whole.text);
    store.approve(gate, whole.digest, &Human::new("ann@example.com")?).await?;

    // The permit exists once, and only after RUNNING and the hold on the key are on disk.
    let mail = store.planned::<SendMail>(mail.id()).await?;
    match store.perform(mail, Smtp, &actors.tool_node).await? {
        Settled::Completed(sent) => println!("{}", sent.state().result),
        Settled::Failed(failed) => println!("not sent: {}", failed.state().error),
        Settled::InDoubt(doubt) => println!("{}", doubt.question()),
        // Only services of tools whose effect is `AnswersLater` accept a call and report later.
        Settled::Accepted(waiting) => println!("{} waits", waiting.id()),
        // The call is still running: a receipt that arrives late is not lost.
        Settled::TimedOut(_, late) | Settled::Fenced(_, late) => drop(tokio::spawn(late)),
    }
    // README]
    Ok(())
}
