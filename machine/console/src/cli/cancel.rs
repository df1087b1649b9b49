use std::fmt::Write;

use serde_json::json;

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::Person,
};
use machine::operate::Cancellation;

/// `cancel`: machines that are not needed any more.
#[derive(Debug, clap::Args)]
pub struct Cancel {
    /// The ids of the machines, or parts of them.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    person: Person,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "cancelled")]
    reason: String,
    #[command(flatten)]
    format: Format,
}

impl Cancel {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        let ids = Ids::read(&store).await?.find_all(&self.ids)?;
        let operator = self.person.operates(context, &store);
        let cancelled = operator.cancel(&ids, Some(&self.reason)).await?;
        let mut text = String::new();
        for one in &cancelled {
            let id = one.id;
            // Writing into a string cannot fail.
            let _ = match &one.how {
                Cancellation::AtOnce => writeln!(text, "{id} cancelled"),
                Cancellation::Message(accepted) => match &accepted.warning {
                    None => writeln!(text, "{id}: sent `cancel`"),
                    Some(warning) => writeln!(text, "{id}: sent `cancel`; {warning}"),
                },
            };
        }
        Answer::of_act(json!({ "cancelled": cancelled }), text).print(self.format)
    }
}
