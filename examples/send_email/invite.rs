//! A workflow with a handler: it asks a person about each mail, and ends when all were sent or declined.

use lettre::Address;
use machine::{
    actor::{Actors, GraphRunner},
    contract::Contract,
    machine,
    store::Store,
    worker::{Failure, Handler, Next, Task},
};
use serde::{Deserialize, Serialize};

use crate::{mail::SendMail, show::say};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Invitation {
    #[initial]
    #[on(ask => Asked, by = GraphRunner)]
    Planned {
        #[audience(human)]
        guests: Vec<Address>,
        #[audience(human)]
        text: String,
    },
    /// Each guest's mail waits for a person, or for the server.
    #[on(close(sent, not_sent) => Closed, by = GraphRunner)]
    Asked,
    #[terminal]
    Closed {
        #[audience(human)]
        sent: usize,
        #[audience(human)]
        not_sent: usize,
    },
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

/// The agent plans it, and its process ends.
pub async fn invite(store: &Store, Invite { guests, text }: Invite) -> anyhow::Result<()> {
    let mut invitation = Invitation::new(guests, text);
    store.create(&mut invitation).await?;
    say(format_args!("{}  invitation", invitation.id()));
    Ok(())
}

pub struct Host(pub Actors);

impl Handler for Host {
    type Machine = AnyInvitation;

    async fn handle(
        &self,
        invitation: AnyInvitation,
        task: &mut Task,
    ) -> Result<Next<AnyInvitation>, Failure> {
        let by = &self.0.graph_runner;
        Ok(match invitation {
            // The questions and the mails are created in the batch of this transition: once, however often this runs.
            AnyInvitation::Planned(planned) => {
                for to in &planned.state().guests {
                    let mail = SendMail {
                        to: to.clone(),
                        subject: "Invitation".to_owned(),
                        body: planned.state().text.clone(),
                    };
                    let mail = Contract::of(&mail, &self.0.reasoning_node)?;
                    task.ask::<SendMail>(mail, None)?;
                }
                Next::to(planned.ask(by))
            }
            AnyInvitation::Asked(asked) => match task.joined().await? {
                Some(mails) => {
                    let sent = mails.iter().filter(|mail| mail.status == "completed").count();
                    Next::to(asked.close(sent, mails.len() - sent, by))
                }
                None => Next::Wait,
            },
            AnyInvitation::Closed(_) => Next::Wait,
        })
    }
}
