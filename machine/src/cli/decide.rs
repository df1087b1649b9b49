use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::{Person, Yes},
    terminal,
    time::local,
};
use crate::{
    contract::Gate,
    id::Id,
    operate::Decided,
    store::{LoadError, Store},
};

/// `approve`: what some gates ask for may run, once.
#[derive(Debug, clap::Args)]
pub struct Approve {
    /// The ids of the gates, or parts of them.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    person: Person,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

/// `decline`: what some gates ask for never runs.
#[derive(Debug, clap::Args)]
pub struct Decline {
    /// The ids of the gates, or parts of them.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    person: Person,
    /// Why not.
    #[arg(long, value_name = "TEXT", default_value = "declined")]
    reason: String,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

impl Approve {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let gates = asked(&store, &self.ids, self.yes).await?;
        let decided = self.person.operates(context, &store).approve(gates).await?;
        let text = decided.iter().map(|Decided { gate, execution, .. }| {
            format!(
                "{gate} approved: a worker runs {execution}, or follow it with `show {execution}`\n"
            )
        });
        Answer::new(json!({ "decided": decided }), text.collect()).print(self.format)
    }
}

impl Decline {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let gates = asked(&store, &self.ids, self.yes).await?;
        let operator = self.person.operates(context, &store);
        let decided = operator.decline(gates, Some(&self.reason)).await?;
        let text = decided.iter().map(|Decided { gate, execution, .. }| {
            format!(
                "{gate} declined: a worker ends {execution}, or `cancel {execution} --as NAME`\n"
            )
        });
        Answer::new(json!({ "decided": decided }), text.collect()).print(self.format)
    }
}

/// The gates that a person has seen, and wants to answer.
async fn asked(store: &Store, ids: &[String], Yes { yes }: Yes) -> Result<Vec<Gate>, Error> {
    let mut gates = Vec::new();
    for id in Ids::read(store).await?.find_all(ids)? {
        gates.push(gate(store, id).await?);
    }
    if !yes {
        let questions = gates
            .iter()
            .map(|gate| format!("{}\n{}", gate.id(), terminal::question(gate.question())));
        terminal::agrees(&questions.collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(gates)
}

async fn gate(store: &Store, id: Id) -> Result<Gate, Error> {
    store.gate(id).await.map_err(|error| match error {
        LoadError::AlreadyDecided { at, .. } => {
            Error::from(error).hint(format_args!("that was at {}", local(at)))
        }
        error => error.into(),
    })
}
