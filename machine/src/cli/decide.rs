use serde_json::{Value, json};

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::{Person, Yes},
    terminal,
    time::local,
};
use crate::{
    actor::Human,
    contract::{Decision, Gate},
    id::Id,
    store::{Batch, Decide, LoadError, Store, retry::Retry},
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
        let by = &self.person.by;
        let decided =
            decide(context, &self.ids, self.yes, |gate| Decide::approve(gate, by)).await?;
        let text = decided.iter().map(|(gate, execution, _)| {
            format!(
                "{gate} approved: a worker runs {execution}, or follow it with `show {execution}`\n"
            )
        });
        Answer::new(document(&decided), text.collect()).print(self.format)
    }
}

impl Decline {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let by: &Human = &self.person.by;
        let decline = |gate| Decide::decline(gate, &self.reason, by);
        let decided = decide(context, &self.ids, self.yes, decline).await?;
        let text = decided.iter().map(|(gate, execution, _)| {
            format!(
                "{gate} declined: a worker ends {execution}, or `cancel {execution} --as NAME`\n"
            )
        });
        Answer::new(document(&decided), text.collect()).print(self.format)
    }
}

type Decided = (Id, Id, Decision);

/// Answers all of these gates, or none.
async fn decide(
    context: &Context,
    ids: &[String],
    Yes { yes }: Yes,
    answer: impl Fn(Gate) -> Decide,
) -> Result<Vec<Decided>, Error> {
    let store = context.write().await?;
    let mut gates = Vec::new();
    for id in Ids::read(&store).await?.find_all(ids)? {
        gates.push(gate(&store, id).await?);
    }
    if !yes {
        let questions = gates.iter().map(|gate| format!("{}\n{}", gate.id(), gate.question()));
        terminal::agrees(&questions.collect::<Vec<_>>().join("\n\n"))?;
    }
    let asked: Vec<_> = gates.iter().map(|gate| (gate.id(), gate.approval().execution())).collect();
    let mut answers: Vec<Decide> = gates.into_iter().map(answer).collect();
    let mut retry = Retry::default();
    loop {
        let batch = answers.iter_mut().fold(store.batch(), Batch::decide);
        let Err(error) = batch.write().await else { break };
        if let Some(error) = retry.after(error) {
            return Err(error.into());
        }
    }
    let decisions = answers.into_iter().filter_map(Decide::decided);
    let decided = asked.into_iter().zip(decisions);
    let decided = decided.map(|((gate, execution), decision)| (gate, execution, decision));
    Ok(decided.collect())
}

async fn gate(store: &Store, id: Id) -> Result<Gate, Error> {
    store.gate(id).await.map_err(|error| match error {
        LoadError::AlreadyDecided { at, .. } => {
            Error::from(error).hint(format_args!("that was at {}", local(at)))
        }
        error => error.into(),
    })
}

fn document(decided: &[Decided]) -> Value {
    let decided = decided.iter().map(|(gate, execution, decision)| {
        json!({
            "gate": gate, "execution": execution, "approved": decision.approved,
            "by": decision.by, "at": decision.at,
        })
    });
    json!({ "decided": decided.collect::<Vec<_>>() })
}
