use serde_json::json;

use super::{Context, Error, Exit, on::One};
use machine::operate::{SendOptions, SentMessage};

/// `send`: one of its events to a machine, for its program to apply.
#[derive(Debug, clap::Args)]
pub(super) struct Send {
    #[command(flatten)]
    one: One,
    /// The trigger, such as `confirm`.
    trigger: String,
    /// The payload of the trigger, as a JSON object.
    #[arg(long = "payload", visible_alias = "with", value_name = "JSON")]
    payload: Option<String>,
    /// The number of transitions that you have seen. The commands that `list` and `show` print for
    /// a machine that waits for a person include it. If the machine has moved on, nothing is sent.
    #[arg(long, value_name = "NUMBER")]
    seen: Option<u64>,
    /// Allow an answer to a future question. Without this, an answer before its question is
    /// refused.
    #[arg(long, conflicts_with = "seen")]
    early: bool,
    /// The correlation id: a machine accepts one message per id.
    #[arg(long, value_name = "ID")]
    correlation: Option<String>,
}

impl Send {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, id) = self.one.open(context).await?;
        let operator = self.one.by.operates(context, &store);
        let Self { correlation, seen, early, .. } = self;
        let sending = SendOptions { correlation, seen, early };
        let payload = self.payload.as_deref().unwrap_or("{}");
        let SentMessage { correlation, warning, .. } =
            operator.send_text(id, &self.trigger, payload, sending).await?;
        let more = warning.as_deref().map(|warning| format!("; {warning}")).unwrap_or_default();
        let text = format!("{id}: sent{more}\n");
        let document = json!({ "id": id, "correlation": correlation, "warning": warning });
        self.one.by.report(document, text)
    }
}
