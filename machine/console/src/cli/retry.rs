use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::{Person, Whole, Yes},
};
use machine::view::{ConsequenceView, Language};

/// `retry`: another attempt at what failed, with the same key.
#[derive(Debug, clap::Args)]
pub struct Retry {
    /// The id of the execution that failed, or a part of it.
    id: String,
    #[command(flatten)]
    person: Person,
    #[command(flatten)]
    whole: Whole,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

impl Retry {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let id = Ids::read(&store).await?.find(&self.id)?;
        let operator = self.person.operates(context, &store);
        if !self.yes.yes || self.whole.whole {
            let failed = operator.failed(id).await?;
            let (contract, language) = (failed.context(), Language::English);
            let what = self
                .whole
                .question(&contract.question_in(language), &contract.whole_question_in(language));
            let view = ConsequenceView::in_language(&failed.into(), context.language);
            self.yes.agrees(&format!("{id}  {view}\nTry it again? {what}"), self.whole)?;
        }
        let attempt = operator.retry(id).await?;
        let text = format!("{id} is tried again as {attempt}: a worker runs it\n");
        Answer::of_act(json!({ "failed": id, "attempt": attempt }), text).print(self.format)
    }
}
