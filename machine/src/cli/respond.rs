use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::Person,
};
use crate::{contract::AnyExecution, view::line::OneLine};

/// `respond`: the answer to a question, which then goes on.
#[derive(Debug, clap::Args)]
pub struct Respond {
    /// The id of the execution that asks, or a part of it.
    id: String,
    /// The answer. Without one, it goes on with the answer that is stored.
    #[arg(value_name = "TEXT")]
    response: Option<String>,
    #[command(flatten)]
    person: Person,
    #[command(flatten)]
    format: Format,
}

impl Respond {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let id = Ids::read(&store).await?.find(&self.id)?;
        let operator = self.person.operates(context, &store);
        let question = operator.question(id).await?;
        let question = match (&self.response, question.answered_by()) {
            (Some(response), None) => operator.respond(question, response).await?,
            (None, _) => question,
            // A process can end between the two.
            (Some(_), Some(by)) => {
                return Err(Error::refused(format!(
                    "{} has answered {id}, and it has not gone on yet; `respond {id} --as NAME` \
                     without a text lets it",
                    OneLine(&by)
                )));
            }
        };
        let resumed = operator.proceed(question).await?;
        let label = &resumed.status().definition().label;
        let goes_on = match &resumed {
            AnyExecution::Running(_) => "its program goes on",
            _ => "it is done",
        };
        let text = format!("{id} is {label} with the answer: {goes_on}\n");
        Answer::of_act(json!({ "id": id, "status": label }), text).print(self.format)
    }
}
