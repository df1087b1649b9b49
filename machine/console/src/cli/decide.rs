use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::{Person, Whole, Yes},
    terminal,
    time::local,
};
use machine::{
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
    whole: Whole,
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
        let gates = found(&store, &operator, "approve", &self.ids).await?;
        let (mut shown, mut texts) = (Vec::with_capacity(gates.len()), Vec::new());
        for gate in gates {
            let whole = gate.whole_question_in(context.language).filter(|_| self.whole.whole);
            let text = match &whole {
                Some(whole) => terminal::question(&whole.text),
                None => terminal::question(&gate.question_in(context.language)),
            };
            texts.push(format!("{}\n{text}", gate.id()));
            let digest = whole.map(|whole| whole.digest).or_else(|| gate.digest_if_whole());
            shown.push((gate, digest));
        }
        let texts = texts.join("\n\n");
        // A question that is cut is refused before anybody is asked.
        let is_cut = shown.iter().any(|(_, digest)| digest.is_none());
        if !is_cut {
            self.yes.agrees(&texts, self.whole)?;
        }
        let decided = operator.approve(shown).await.map_err(|error| match error.not_shown() {
            Some(id) => error
                .hint(format_args!("`approve {id} --whole --as NAME` shows all of it, and asks")),
            None => error,
        })?;
        let text = decided.iter().map(|Decided { gate, execution, .. }| {
            format!(
                "{gate} approved: a worker runs {execution}; follow it with `show {execution}`\n"
            )
        });
        Answer::of_act(json!({ "decided": decided }), text.collect()).print(self.format)
    }
}

impl Decline {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let operator = self.person.operates(context, &store);
        let gates = found(&store, &operator, "decline", &self.ids).await?;
        if !self.yes.yes {
            let questions = gates.iter().map(|gate| {
                format!("{}\n{}", gate.id(), terminal::question(&gate.declining(context.language)))
            });
            terminal::agrees(&questions.collect::<Vec<_>>().join("\n\n"))?;
        }
        let decided = operator.decline(gates, Some(&self.reason)).await?;
        let text = decided.iter().map(|Decided { gate, execution, .. }| {
            format!("{gate} declined: {execution} never runs, and is CANCELLED\n")
        });
        Answer::of_act(json!({ "decided": decided }), text.collect()).print(self.format)
    }
}

/// The gates that a person wants to answer.
async fn found(
    store: &Store,
    operator: &Operator<'_>,
    operation: &'static str,
    ids: &[String],
) -> Result<Vec<Gate>, Error> {
    let ids = Ids::read(store).await?.find_all(ids)?;
    operator.gates(operation, &ids).await.map_err(told)
}

/// The answer of another person, with its time.
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
