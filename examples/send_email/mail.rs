//! The tool: one mail, over real SMTP.

use std::{error::Error, fmt, io, time::Duration};

use lettre::{
    Address, Message,
    transport::smtp::{
        self,
        client::AsyncSmtpConnection,
        commands::{Data, Mail, Rcpt},
        extension::ClientId,
    },
};
use machine::contract::{Answer, Applied, Call, OrRefused, Perform, Tool};
use serde::{Deserialize, Serialize};

/// Sends a mail. The fields are the arguments; a person sees all of them before it is sent.
#[derive(Debug, clap::Args, Serialize, Deserialize, Tool)]
#[serde(deny_unknown_fields)]
// A killed process's bytes can still be on their way to the server. On loopback they have arrived
// after two seconds; across a network that takes minutes.
#[tool(email.send, irreversible, refusal = NotSent, settling_time = Duration::from_secs(2), about = "{to}")]
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

/// Why a mail was provably not sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotSent {
    /// The mail server was not there.
    ConnectionRefused,
    /// The mail server refused, or broke off before it had the content.
    Smtp(String),
    /// Such a mail cannot be written.
    Invalid(String),
    /// Another process has given up on this one.
    Fenced,
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectionRefused => f.write_str("SMTP connection refused"),
            Self::Smtp(error) => write!(f, "SMTP {error}"),
            Self::Invalid(error) => f.write_str(error),
            Self::Fenced => f.write_str("this process was fenced before it sent the mail"),
        }
    }
}

impl From<&smtp::Error> for NotSent {
    fn from(error: &smtp::Error) -> Self {
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        match cause.map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => Self::ConnectionRefused,
            _ => Self::Smtp(error.to_string()),
        }
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
    async fn perform(&self, call: &Call<SendMail>) -> Answer<String, NotSent> {
        let mail =
            message(call).map_err(|error| NotSent::Invalid(error.to_string())).or_refused()?;
        // Without the content there is no mail, so an error until then proves that there is none.
        let ready = self.announce(&mail, call.timeout).await;
        let mut server = ready.map_err(|error| NotSent::from(&error)).or_refused()?;
        // The exchange may have taken long, so that another process has given up on this one.
        if !call.still_valid().await {
            return Err(NotSent::Fenced).or_refused();
        }
        match server.message(&mail.formatted()).await {
            Ok(reply) => {
                let words: Vec<&str> = reply.message().collect();
                Ok(Applied::new(format!("{} {}", reply.code(), words.join(" "))))
            }
            // A reply with an error: the server did not take the mail.
            Err(refusal) if refusal.status().is_some() => Err(NotSent::from(&refusal)).or_refused(),
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
    let SendMail { to, subject, body } = &call.arguments;
    // The same for every attempt at this mail, so that mail systems can deduplicate too.
    let digest = call.key.as_ref().and_then(|key| key.as_str().rsplit(':').next());
    let mail = Message::builder()
        .from("Agent <agent@agent.example>".parse()?)
        .to(to.clone().into())
        .subject(subject)
        .message_id(digest.map(|digest| format!("<{digest}@agent.example>")))
        .body(body.clone())?;
    Ok(mail)
}
