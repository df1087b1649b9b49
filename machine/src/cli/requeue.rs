use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
};

/// `requeue`: workers try again what they set aside.
#[derive(Debug, clap::Args)]
pub struct Requeue {
    /// The ids of the machines, or parts of them.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
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
        let messages: Vec<&str> = self.messages.iter().map(String::as_str).collect();
        let mut done = Vec::new();
        for id in ids {
            if let Err(error) = store.requeue(id, &messages).await {
                return Err(Error::from(error).after(&done));
            }
            done.push(id);
        }
        let text = done.iter().map(|id| format!("{id}: workers try it again"));
        let text = text.collect::<Vec<_>>().join("\n");
        Answer::new(json!({ "requeued": done }), text).print(self.format)
    }
}
