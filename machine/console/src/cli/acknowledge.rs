use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::Person,
};

/// `acknowledge`: a contradiction was seen and dealt with.
#[derive(Debug, clap::Args)]
pub struct Acknowledge {
    /// The id of the execution that is CONTRADICTED, or a part of it.
    id: String,
    #[command(flatten)]
    person: Person,
    #[command(flatten)]
    format: Format,
}

impl Acknowledge {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let id = Ids::read(&store).await?.find(&self.id)?;
        self.person.operates(context, &store).acknowledge(id).await?;
        let text =
            format!("{id} acknowledged: it needs attention only if another receipt arrives\n");
        Answer::of_act(json!({ "id": id }), text).print(self.format)
    }
}
