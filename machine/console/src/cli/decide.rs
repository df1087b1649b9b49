use std::fmt::Write;

use serde_json::json;

use super::{
    Context, Error, Exit,
    on::Several,
    person::{Whole, Yes},
    terminal,
    time::local,
};
use machine::{
    effects::StateError,
    observe::NextStep,
    operate::{self, Decided},
};

/// `approve`: what some gates ask for may run, once.
#[derive(Debug, clap::Args)]
pub(super) struct Approve {
    #[command(flatten)]
    several: Several,
    #[command(flatten)]
    whole: Whole,
    #[command(flatten)]
    yes: Yes,
}

/// `decline`: what some gates ask for never runs.
#[derive(Debug, clap::Args)]
pub(super) struct Decline {
    #[command(flatten)]
    several: Several,
    /// The reason.
    #[arg(long, value_name = "TEXT", default_value = "declined")]
    reason: String,
    #[command(flatten)]
    yes: Yes,
}

impl Approve {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, ids) = self.several.open(context).await?;
        let operator = self.several.by.operates(context, &store);
        let observer = context.observer(&store);
        let gates = operator.gates("approve", &ids).await.map_err(with_time)?;
        let (mut shown, mut texts) = (Vec::with_capacity(gates.len()), Vec::new());
        for gate in gates {
            let whole = gate.whole_question_in(context.language).filter(|_| self.whole.whole);
            let mut text = match &whole {
                Some(whole) => terminal::question(&whole.text),
                None => terminal::question(&gate.question_in(context.language)),
            };
            if let Some(caution) = Box::pin(observer.caution(&gate)).await? {
                text = format!("{text}\ncaution: {}", terminal::question(&caution));
            }
            texts.push(format!("{}\n{text}", gate.id()));
            let digest = whole.map(|whole| whole.digest).or_else(|| gate.digest_if_whole());
            shown.push((gate, digest));
        }
        let texts = texts.join("\n\n");
        // A question that is cut is refused before anybody is asked.
        let is_cut = shown.iter().any(|(_, digest)| digest.is_none());
        if !is_cut {
            self.yes.agrees(&texts, self.whole)?;
        }
        let decided = operator.approve(shown).await.map_err(|error| match error.not_shown() {
            Some(id) => error
                .hint(format_args!("`approve {id} --whole --as NAME` shows all of it, and asks")),
            None => error,
        })?;
        let mut text = String::new();
        for Decided { gate, execution, .. } in &decided {
            let but = context.unless_worker(&store, *execution).await;
            let show = context.line(NextStep::Show { id: *execution });
            let _ = writeln!(
                text,
                "{gate} approved: a worker runs {execution}{but}; follow it with `{show}`"
            );
        }
        self.several.by.report(json!({ "decided": decided }), text)
    }
}

impl Decline {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, ids) = self.several.open(context).await?;
        let operator = self.several.by.operates(context, &store);
        let gates = operator.gates("decline", &ids).await.map_err(with_time)?;
        if !self.yes.yes {
            let questions = gates.iter().map(|gate| {
                format!("{}\n{}", gate.id(), terminal::question(&gate.declining(context.language)))
            });
            terminal::agrees(&questions.collect::<Vec<_>>().join("\n\n"))?;
        }
        let decided = operator.decline(gates, Some(&self.reason)).await?;
        let text = decided.iter().map(|Decided { gate, execution, .. }| {
            format!("{gate} declined: {execution} is CANCELLED and never runs\n")
        });
        self.several.by.report(json!({ "decided": decided }), text.collect())
    }
}

/// Adds the time of the answer of another person.
fn with_time(error: operate::Error) -> Error {
    let source = std::error::Error::source(&error);
    match source.and_then(|source| source.downcast_ref()) {
        Some(StateError::AlreadyDecided { at, .. }) => {
            let at = local(*at);
            Error::from(error).hint(format_args!("that was at {at}"))
        }
        _ => error.into(),
    }
}
