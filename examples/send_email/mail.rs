//! The tool: one mail, over real SMTP.

use std::{error::Error, io, time::Duration};

use anyhow::{Context, ensure};
use lettre::{
    Message,
    address::AddressError,
    message::Mailbox,
    transport::smtp::{client::AsyncSmtpConnection, extension::ClientId},
};
use machine::contract::{Answer, Applied, Contract, NotDone, Permit};
use serde::{Deserialize, Serialize};

/// The arguments of `email.send`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    pub to: String,
    pub subject: String,
    pub body: String,
}

impl Mail {
    /// Reads the arguments of a contract.
    pub fn of(contract: &Contract) -> anyhow::Result<Self> {
        let arguments = contract.action().detail().get("args").cloned().unwrap_or_default();
        Self::check(serde_json::from_value(arguments).context("the contract is not a mail")?)
    }

    /// Refuses mails that no server would accept, before a person is asked.
    pub fn check(self) -> anyhow::Result<Self> {
        self.recipient().with_context(|| {
            format!("`{}` is not a mail address; pass one such as bob@example.com", self.to)
        })?;
        ensure!(!self.subject.trim().is_empty(), "the subject is empty; pass a subject");
        Ok(self)
    }

    fn recipient(&self) -> Result<Mailbox, AddressError> {
        self.to.parse()
    }

    fn message(&self, permit: &Permit) -> Result<Message, Box<dyn Error>> {
        // The same for every attempt at this mail, so that mail systems can deduplicate too.
        let id = permit.key().map(|key| {
            let digest = key.as_str().rsplit(':').next().unwrap_or_default();
            format!("<{digest}@agent.example>")
        });
        let mail = Message::builder()
            .from("Agent <agent@agent.example>".parse()?)
            .to(self.recipient()?)
            .subject(&self.subject)
            .message_id(id)
            .body(self.body.clone())?;
        Ok(mail)
    }
}

/// Sends the mail. Answers with evidence, not with assumptions.
pub async fn send(permit: Permit, mail: &Mail, smtp: &str) -> Answer {
    let limit = permit.timeout().map(Duration::from_secs);
    let message = mail.message(&permit).map_err(NotDone::not_applied)?;
    let call = async {
        // An error while connecting proves that nothing happened: the server has no mail yet.
        let mut server =
            AsyncSmtpConnection::connect_tokio1(smtp, limit, &ClientId::default(), None, None)
                .await
                .map_err(|error| NotDone::not_applied(words(&error)))?;
        match server.send(message.envelope(), &message.formatted()).await {
            Ok(response) => {
                let said: Vec<&str> = response.message().collect();
                Ok(Applied::new(format!("mail sent: {} {}", response.code(), said.join(" "))))
            }
            // The server replied with an error, so it did not accept the mail.
            Err(refusal) if refusal.is_permanent() || refusal.is_transient() => {
                Err(NotDone::not_applied(words(&refusal)))
            }
            // The connection broke after the server may have received the whole mail.
            Err(unclear) => Err(unclear.into()),
        }
    };
    match limit {
        // An elapsed timeout is an error like any other: unknown.
        Some(limit) => tokio::time::timeout(limit, call).await?,
        None => call.await,
    }
}

fn words(error: &lettre::transport::smtp::Error) -> String {
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(current) = cause {
        if let Some(io) = current.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::ConnectionRefused
        {
            return "SMTP connection refused".to_owned();
        }
        cause = current.source();
    }
    format!("SMTP {error}")
}
