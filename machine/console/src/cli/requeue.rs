use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::Person,
};

/// `requeue`: workers try again what they set aside.
#[derive(Debug, clap::Args)]
pub struct Requeue {
    /// The ids of the machines, or parts of them.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    person: Person,
    /// Also this message to the machine, by its correlation id; more than once for several.
    #[arg(long = "message", value_name = "CORRELATION")]
    messages: Vec<String>,
    #[command(flatten)]
    format: Format,
}

impl Requeue {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let ids = Ids::read(&store).await?.find_all(&self.ids)?;
        if ids.len() > 1 && !self.messages.is_empty() {
            return Err(Error::usage("`--message` names messages to one machine; give one id"));
        }
        let operator = self.person.operates(context, &store);
        operator.requeue(&ids, &self.messages).await?;
        let text = ids.iter().map(|id| format!("{id}: workers try it again"));
        let text = text.collect::<Vec<_>>().join("\n");
        Answer::of_act(json!({ "requeued": ids }), text).print(self.format)
    }
}
