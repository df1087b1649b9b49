use std::time::Duration;

use serde_json::json;

use super::{Context, Error, Exit, duration::duration, on::One};
use machine::{
    contract::AnyExecution,
    effects::{Resume, Resumed},
    text::OneLine,
};

/// `respond`: the answer to a question, which is then resumed.
#[derive(Debug, clap::Args)]
pub(super) struct Respond {
    #[command(flatten)]
    one: One,
    /// The answer. Without one, the question is resumed with the stored answer.
    #[arg(value_name = "TEXT")]
    response: Option<String>,
    /// Do not resume the question if it has waited longer, such as `90s` or `2d`.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    max_age: Option<Duration>,
    /// The number of executions of the session that you resume; warns if another number waits.
    #[arg(long, value_name = "NUMBER")]
    resuming: Option<usize>,
}

impl Respond {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, id) = self.one.open(context).await?;
        let operator = self.one.by.operates(context, &store);
        let checks = Resume { max_age: self.max_age, resuming: self.resuming };
        let operation = if self.response.is_none() { "continue" } else { "respond" };
        let question = operator.question(operation, id, checks).await?;
        let answered = question.answered_by();
        let question = match &self.response {
            None => question,
            Some(response) => operator.respond(question, response).await.map_err(|error| {
                match answered {
                    None => error.into(),
                    // A process can end between the two.
                    Some(by) => Error::from(error).hint(format_args!(
                        "{} has answered {id}; `respond {id} --as NAME` without a text resumes it",
                        OneLine(&by)
                    )),
                }
            })?,
        };
        let Resumed { execution, age_ms, warnings, .. } =
            operator.proceed(question, checks).await?;
        let label = &execution.status().definition().label;
        let goes_on = match &execution {
            AnyExecution::Running(_) => "its program continues",
            _ => "it is done",
        };
        let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        let mut text = format!("{id} is {label} with the answer: {goes_on}\n");
        text.extend(warnings.iter().map(|warning| format!("warning: {warning}\n")));
        let answer = json!({ "id": id, "status": label, "age_ms": age_ms, "warnings": warnings });
        self.one.by.report(answer, text)
    }
}
