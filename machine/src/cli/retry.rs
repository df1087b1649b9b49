use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::{Person, Yes},
    terminal,
};
use crate::{
    contract::{Action, AnyExecution, Planned, execution::Failed, question},
    typed::State,
    view::{ConsequenceView, Label},
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
        let failed = Failed::narrow(store.load::<AnyExecution>(id).await?).map_err(|other| {
            let label = Label::of(&other);
            Error::refused(format!("{id} is {label}, not FAILED, so it cannot be tried again"))
        })?;
        if !self.yes.yes {
            let view = ConsequenceView::in_language(&AnyExecution::from(failed), context.language);
            let failed = store.load::<AnyExecution>(id).await?;
            let what = format!("{id}  {view}\nTry it again? {}", question(failed.context()));
            terminal::agrees(&what)?;
        }
        // It may have been tried again while the person was thinking: the store refuses it then.
        let failed = store.load::<AnyExecution>(id).await?;
        let failed = Failed::narrow(failed)
            .map_err(|_| Error::refused(format!("{id} has changed; look at it again")))?;
        let mut again = Planned::<Action>::from(crate::contract::Execution::new(
            crate::contract::Contract::retry(&failed, &self.person.by),
        ));
        store.plan(&mut again).await?;
        let attempt = again.id();
        let text = format!("{id} is tried again as {attempt}: a worker runs it\n");
        Answer::new(json!({ "failed": id, "attempt": attempt }), text).print(self.format)
    }
}
