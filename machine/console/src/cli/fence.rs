use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::{Person, Whole, Yes},
    terminal,
};
use machine::view::ConsequenceView;

/// `fence`: the worker of a call is shut out, and the call is in doubt.
#[derive(Debug, clap::Args)]
pub struct Fence {
    /// The id of the execution, or a part of it.
    id: String,
    #[command(flatten)]
    person: Person,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "its worker was shut out")]
    reason: String,
    #[command(flatten)]
    whole: Whole,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    format: Format,
}

impl Fence {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let id = Ids::read(&store).await?.find(&self.id)?;
        let operator = self.person.operates(context, &store);
        if !self.yes.yes || self.whole.whole {
            let call = operator.in_flight(id, Some(&self.reason)).await?;
            let (contract, language) = (call.context(), context.language);
            let what = self
                .whole
                .question(&contract.question_in(language), &contract.whole_question_in(language));
            let view = ConsequenceView::in_language(&call, context.language);
            self.yes.agrees(
                &format!(
                    "{id}  {view}\n{what}\nShut its worker out? The call may have taken effect, so it is in doubt \
                     until a receipt or a person settles it."
                ),
                self.whole,
            )?;
        }
        let doubt = operator.fence(id, Some(&self.reason)).await?;
        let question = doubt.question_in(context.language);
        let shown = terminal::question(&question);
        let text = format!(
            "{id} is in doubt: its worker is shut out, and what it answers is late evidence\n\
             {shown}\nnext: confirm {id} 'applied|not-applied' --as NAME\n"
        );
        let document = json!({ "id": id, "question": question });
        Answer::of_act(document, text).print(self.format)
    }
}
