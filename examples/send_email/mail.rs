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
    /// Reads the arguments back out of a contract.
    pub fn of(contract: &Contract) -> anyhow::Result<Self> {
        let arguments = contract.action().detail().get("args").cloned().unwrap_or_default();
        Self::check(serde_json::from_value(arguments).context("this contract is no mail")?)
    }

    /// Refuses what no server would take, before anybody is asked about it.
    pub fn check(self) -> anyhow::Result<Self> {
        self.recipient().with_context(|| {
            format!("`{}` is no mail address; write one such as bob@example.com", self.to)
        })?;
        ensure!(
            !self.subject.trim().is_empty(),
            "the subject is empty; say what the mail is about"
        );
        Ok(self)
    }

    fn recipient(&self) -> Result<Mailbox, AddressError> {
        self.to.parse()
    }

    fn message(&self, permit: &Permit) -> Result<Message, Box<dyn Error>> {
        // The same for every attempt at this mail, so that a mail system can deduplicate as well.
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

/// Sends the mail. The answer says what is known, not what is hoped for.
pub async fn send(permit: Permit, mail: &Mail, smtp: &str) -> Answer {
    let limit = permit.timeout().map(Duration::from_secs);
    let message = mail.message(&permit).map_err(NotDone::not_applied)?;
    let call = async {
        // Before the server has seen a mail, nothing has happened, whatever the error is.
        let mut server =
            AsyncSmtpConnection::connect_tokio1(smtp, limit, &ClientId::default(), None, None)
                .await
                .map_err(|error| NotDone::not_applied(words(&error)))?;
        match server.send(message.envelope(), &message.formatted()).await {
            Ok(response) => {
                let said: Vec<&str> = response.message().collect();
                Ok(Applied::new(format!("mail sent: {} {}", response.code(), said.join(" "))))
            }
            // The server said no, so it did not take the mail.
            Err(refusal) if refusal.is_permanent() || refusal.is_transient() => {
                Err(NotDone::not_applied(words(&refusal)))
            }
            // The connection broke while the server may have had all of it.
            Err(unclear) => Err(unclear.into()),
        }
    };
    match limit {
        // An elapsed limit is an error like any other: unknown.
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
