use serde_json::{Map, json};

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::Person,
};
use machine::operate::{SendOptions, SentMessage};

/// `send`: one of its events to a machine, for its program to apply.
#[derive(Debug, clap::Args)]
pub struct Send {
    /// The id of the machine, or a part of it.
    id: String,
    /// The trigger, such as `confirm`.
    trigger: String,
    #[command(flatten)]
    person: Person,
    /// The payload of the trigger, as a JSON object.
    #[arg(long = "payload", visible_alias = "with", value_name = "JSON")]
    payload: Option<String>,
    /// The number of transitions of the machine that you have seen; the commands that `list` and `show` print
    /// have it. If the machine has moved on, nothing is sent.
    #[arg(long, value_name = "NUMBER")]
    seen: Option<u64>,
    /// It is an answer to a question that will come. Without this, an answer before its question is refused.
    #[arg(long, conflicts_with = "seen")]
    early: bool,
    /// The correlation id: a machine takes one message of each.
    #[arg(long, value_name = "ID")]
    correlation: Option<String>,
    #[command(flatten)]
    format: Format,
}

impl Send {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let payload = match &self.payload {
            None => Map::new(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Error::usage(format!("the payload is not a JSON object: {error}"))
            })?,
        };
        let store = context.write().await?;
        let id = Ids::read(&store).await?.find(&self.id)?;
        let operator = self.person.operates(context, &store);
        let Self { correlation, seen, early, .. } = self;
        let sending = SendOptions { correlation, seen, early };
        let SentMessage { correlation, warning, .. } =
            operator.send(id, &self.trigger, payload, sending).await?;
        let more = warning.as_deref().map(|warning| format!("; {warning}")).unwrap_or_default();
        let text = format!("{id}: sent{more}\n");
        let document = json!({ "id": id, "correlation": correlation, "warning": warning });
        Answer::of_act(document, text).print(self.format)
    }
}
