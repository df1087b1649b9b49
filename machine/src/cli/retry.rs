use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::{Person, Yes},
    terminal,
};
use crate::{
    contract::{Action, AnyExecution, Contract, Execution, Planned, execution::Failed, question},
    typed::State,
    view::ConsequenceView,
};

/// `retry`: another attempt at what failed, with the same key.
#[derive(Debug, clap::Args)]
pub struct Retry {
    /// The id of the execution that failed, or a part of it.
    id: String,
    #[command(flatten)]
    person: Person,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

impl Retry {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let id = Ids::read(&store).await?.find(&self.id)?;
        let execution = store.load::<AnyExecution>(id).await?;
        let view = ConsequenceView::in_language(&execution, context.language);
        let failed = Failed::narrow(execution).map_err(|_| {
            let label = view.consequence_label;
            Error::refused(format!("{id} is {label}, not FAILED, so it cannot be tried again"))
        })?;
        if !self.yes.yes {
            let what = terminal::question(&question(failed.context()));
            terminal::agrees(&format!("{id}  {view}\nTry it again? {what}"))?;
        }
        // If somebody else was faster, the store refuses it: the key is taken.
        let contract = Contract::retry(&failed, &self.person.by);
        let mut again = Planned::<Action>::from(Execution::new(contract));
        store.plan(&mut again).await?;
        let attempt = again.id();
        let text = format!("{id} is tried again as {attempt}: a worker runs it\n");
        Answer::new(json!({ "failed": id, "attempt": attempt }), text).print(self.format)
    }
}
