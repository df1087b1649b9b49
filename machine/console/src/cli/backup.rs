use std::path::PathBuf;

use serde_json::json;

use super::{
    Context, Error, Exit,
    output::{Format, Output},
    progress::Progress,
};
use machine::text::OneLine;

/// `backup`: a copy of the file, while programs write to it.
#[derive(Debug, clap::Args)]
pub(super) struct Backup {
    /// The copy; an existing file is never overwritten.
    #[arg(value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Backup {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.read().await?;
        let progress = Progress::of("bytes");
        let copied = store.backup(&self.to, |at| progress.set(at.bytes, at.total_bytes)).await?;
        drop(progress);
        let (path, bytes) = (copied.path.display().to_string(), copied.bytes);
        let text = format!("{}: {bytes} bytes\n", OneLine(&path));
        let document =
            json!({ "path": path, "bytes": bytes, "position": copied.position.to_string() });
        Output::of_act(document, text).print(self.format)
    }
}
