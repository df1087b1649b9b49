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
    operate::{self, Decided, Operator},
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
        let operator = self.person.operates(context, &store);
        let gates = asked(&store, &operator, "approve", &self.ids, self.yes).await?;
        let decided = operator.approve(gates).await?;
        let text = decided.iter().map(|Decided { gate, execution, .. }| {
            format!(
                "{gate} approved: a worker runs {execution}, or follow it with `show {execution}`\n"
            )
        });
        Answer::of_act(json!({ "decided": decided }), text.collect()).print(self.format)
    }
}

impl Decline {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let operator = self.person.operates(context, &store);
        let gates = asked(&store, &operator, "decline", &self.ids, self.yes).await?;
        let decided = operator.decline(gates, Some(&self.reason)).await?;
        let text = decided.iter().map(|Decided { gate, execution, .. }| {
            format!(
                "{gate} declined: a worker ends {execution}, or `cancel {execution} --as NAME`\n"
            )
        });
        Answer::of_act(json!({ "decided": decided }), text.collect()).print(self.format)
    }
}

/// The gates that a person has seen, and wants to answer.
async fn asked(
    store: &Store,
    operator: &Operator<'_>,
    operation: &'static str,
    ids: &[String],
    Yes { yes }: Yes,
) -> Result<Vec<Gate>, Error> {
    let ids = Ids::read(store).await?.find_all(ids)?;
    let gates = operator.gates(operation, &ids).await.map_err(told)?;
    if !yes {
        let questions = gates
            .iter()
            .map(|gate| format!("{}\n{}", gate.id(), terminal::question(gate.question())));
        terminal::agrees(&questions.collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(gates)
}

/// An answer of somebody else, with its time.
fn told(error: operate::Error) -> Error {
    let source = std::error::Error::source(&error);
    let at = match source.and_then(|source| source.downcast_ref()) {
        Some(LoadError::AlreadyDecided { at, .. }) => Some(*at),
        _ => None,
    };
    let told = Error::from(error);
    match at {
        Some(at) => told.hint(format_args!("that was at {}", local(at))),
        None => told,
    }
}
