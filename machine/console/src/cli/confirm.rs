use serde_json::json;

use super::{
    Context, Error, Exit,
    on::One,
    person::{Whole, Yes},
};
use machine::operate::Finding;

/// `confirm`: a person's finding about an action in doubt.
#[derive(Debug, clap::Args)]
pub(super) struct Confirm {
    #[command(flatten)]
    one: One,
    /// The finding.
    #[arg(value_enum)]
    found: Found,
    /// Confirm it on your own responsibility, although the worker may still be alive.
    #[arg(long = "override")]
    overridden: bool,
    /// The proof that it took effect; JSON if the receipt type of the calling machine is not text.
    #[arg(long, value_name = "TEXT", conflicts_with = "reason")]
    receipt: Option<String>,
    /// The reason why it cannot have taken effect.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    whole: Whole,
    #[command(flatten)]
    yes: Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Found {
    /// It took effect.
    Applied,
    /// It did not take effect, and will not.
    NotApplied,
}

impl Confirm {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let is_applied = self.found == Found::Applied;
        if is_applied && (self.overridden || self.reason.is_some()) {
            return Err(Error::usage(
                "`--override` and `--reason` are for `not-applied`; with `applied`, pass `--receipt`",
            ));
        }
        if !is_applied && self.receipt.is_some() {
            return Err(Error::usage(
                "`--receipt` is for `applied`; with `not-applied`, pass `--reason`",
            ));
        }
        let (store, id) = self.one.open(context).await?;
        let operator = self.one.by.operates(context, &store);
        let (finding, answer) = match (self.found, self.overridden) {
            (Found::Applied, _) => (Finding::Applied(self.receipt.as_deref()), "it took effect"),
            (Found::NotApplied, false) => {
                (Finding::NotApplied(self.reason.as_deref()), "it did not take effect")
            }
            (Found::NotApplied, true) => (
                Finding::Overridden(self.reason.as_deref()),
                "it did not take effect, although this is not proven yet",
            ),
        };
        let doubt = operator.in_doubt(id, finding).await?;
        let asked = self.whole.question(
            &doubt.question_in(context.language),
            &doubt.whole_question_in(context.language),
        );
        self.yes.agrees(&format!("{id}\n{asked}\nYour answer: {answer}."), self.whole)?;
        operator.confirm(doubt, finding).await?;
        let document = json!({ "id": id, "applied": is_applied, "overridden": self.overridden });
        let text = match self.found {
            Found::Applied => format!("{id} confirmed: it took effect\n"),
            Found::NotApplied => {
                let next = context.next(&store, id).await;
                let next: Vec<_> = next.iter().map(|command| format!("`{command}`")).collect();
                let next = match &*next {
                    [] => String::new(),
                    next => format!("; next: {}", next.join(", ")),
                };
                format!("{id} confirmed: it did not take effect{next}\n")
            }
        };
        self.one.by.report(document, text)
    }
}
