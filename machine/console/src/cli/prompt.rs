use serde_json::json;

use super::{
    Context, Error, Exit, ids,
    output::{Format, Output},
};
use machine::view;

/// `prompt`: the section of a model's prompt about the executions of a session.
#[derive(Debug, clap::Args)]
pub(super) struct Prompt {
    /// The session.
    #[arg(long, value_name = "SESSION")]
    session: String,
    /// The maximum size of its lines, in bytes; omitted lines are counted.
    #[arg(long, value_name = "BYTES", default_value_t = view::Prompt::new(&[]).limit)]
    limit: usize,
    #[command(flatten)]
    format: Format,
}

impl Prompt {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let session = ids::session(&store, &self.session).await?;
        let found = context.observer(&store).consequences(&session).await?;
        let (language, limit) = (context.language, self.limit);
        let text = view::Prompt { language, limit, ..found.prompt() }.to_string();
        let document = json!({
            "session": session,
            "executions": found.executions,
            "unreadable": found.unreadable.len(),
            "prompt": text,
        });
        Output::new(document, text).print(self.format)
    }
}
