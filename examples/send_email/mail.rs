//! The tool: one mail, over real SMTP.

use std::{error::Error, io, time::Duration};

use lettre::{
    Address, Message,
    transport::smtp::{
        self,
        client::AsyncSmtpConnection,
        commands::{Data, Mail, Rcpt},
        extension::ClientId,
    },
};
use machine::contract::{Answer, Applied, Call, Irreversible, NotDone, Perform, Tool};
use serde::{Deserialize, Serialize};

/// Sends a mail. The fields are the arguments; a person sees all of them before it is sent.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendMail {
    /// The recipient.
    #[arg(long)]
    pub to: Address,
    /// The subject.
    #[arg(long, default_value = "Meeting")]
    pub subject: String,
    /// The body.
    #[arg(long, default_value = "Shall we meet on Monday at ten?")]
    pub body: String,
}

impl Tool for SendMail {
    const SERVICE: &'static str = "email";
    const METHOD: &'static str = "send";
    type Effect = Irreversible;
    type Receipt = String;
    /// The time that a killed process's bytes can still be on their way to the server. On loopback they
    /// have arrived after two seconds; across a network that takes minutes.
    const SETTLING_TIME: Duration = Duration::from_secs(2);

    fn subject(&self, _language: &str) -> Option<String> {
        Some(self.to.to_string())
    }
}

/// The mail server.
pub struct Smtp {
    /// `HOST:PORT`.
    pub address: String,
}

impl Perform<SendMail> for Smtp {
    // Everything is sent by the future of the call itself, and by no other task or thread.
    const CONFINED: bool = true;

    /// Answers with evidence, not with assumptions.
    async fn perform(&self, call: &Call<SendMail>) -> Answer {
        let mail = message(call).map_err(NotDone::not_applied)?;
        // Without the content there is no mail, so an error until then proves that there is none.
        let ready = self.announce(&mail, call.timeout()).await;
        let mut server = ready.map_err(|error| not_sent(&error))?;
        // The exchange may have taken long, so that another process has given up on this one.
        if !call.still_valid().await {
            return Err(NotDone::not_applied("this process was shut out before it sent the mail"));
        }
        match server.message(&mail.formatted()).await {
            Ok(reply) => {
                let words: Vec<&str> = reply.message().collect();
                Ok(Applied::new(format!("{} {}", reply.code(), words.join(" "))))
            }
            // A reply with an error: the server did not take the mail.
            Err(refusal) if refusal.status().is_some() => Err(not_sent(&refusal)),
            // The connection broke. The server may have the mail, so this is `Unknown`.
            Err(broken) => Err(broken.into()),
        }
    }
}

impl Smtp {
    /// Everything that comes before the content of a mail.
    async fn announce(
        &self,
        mail: &Message,
        timeout: Option<Duration>,
    ) -> Result<AsyncSmtpConnection, smtp::Error> {
        let me = ClientId::default();
        let mut server =
            AsyncSmtpConnection::connect_tokio1(&self.address, timeout, &me, None, None).await?;
        server.command(Mail::new(mail.envelope().from().cloned(), vec![])).await?;
        for to in mail.envelope().to() {
            server.command(Rcpt::new(to.clone(), vec![])).await?;
        }
        server.command(Data).await?;
        Ok(server)
    }
}

fn message(call: &Call<SendMail>) -> Result<Message, Box<dyn Error>> {
    let SendMail { to, subject, body } = call.arguments();
    // The same for every attempt at this mail, so that mail systems can deduplicate too.
    let digest = call.key().and_then(|key| key.as_str().rsplit(':').next());
    let mail = Message::builder()
        .from("Agent <agent@agent.example>".parse()?)
        .to(to.clone().into())
        .subject(subject)
        .message_id(digest.map(|digest| format!("<{digest}@agent.example>")))
        .body(body.clone())?;
    Ok(mail)
}

fn not_sent(error: &smtp::Error) -> NotDone {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    NotDone::not_applied(match cause.map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => "SMTP connection refused".to_owned(),
        _ => format!("SMTP {error}"),
    })
}
