//! A workflow: a person is asked about each mail, and it ends when all were sent or declined.

use lettre::Address;
use machine::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{mail::SendMail, show::say};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Invitation {
    /// Each guest's mail waits for a person, or for the server.
    #[initial]
    #[invoke(mails: [SendMail] = mails(guests, &text), approve, done = close)]
    #[on(close(
        outcomes: Vec<Outcome<SendMail>>,
        sent = outcomes.iter().filter(|outcome| outcome.is_ok()).count(),
        not_sent = outcomes.iter().filter(|outcome| outcome.is_err()).count(),
    ) => Closed)]
    Asked {
        #[audience(human)]
        guests: Vec<Address>,
        #[audience(human)]
        text: String,
    },
    #[terminal]
    Closed {
        #[audience(human)]
        sent: usize,
        #[audience(human)]
        not_sent: usize,
    },
}

fn mails(guests: Vec<Address>, text: &str) -> impl Iterator<Item = SendMail> {
    let mail = |to| SendMail { to, subject: "Invitation".to_owned(), body: text.to_owned() };
    guests.into_iter().map(mail)
}

/// Whom to invite.
#[derive(Debug, clap::Args)]
pub struct Invite {
    /// A guest; once for each of them.
    #[arg(long = "guest", value_name = "ADDRESS", required = true)]
    guests: Vec<Address>,
    /// The body of the mails.
    #[arg(long, default_value = "You are invited.")]
    text: String,
}

/// The agent asks, and its process ends.
pub async fn invite(store: &Store, Invite { guests, text }: Invite) -> anyhow::Result<()> {
    let mut invitation = Invitation::new(guests, text);
    store.create(&mut invitation).await?;
    say(format_args!("{}  invitation", invitation.id()));
    Ok(())
}
