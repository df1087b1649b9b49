//! The acts that need nothing but the machine and a reason.

use std::fmt::Write;

use serde_json::json;

use super::{
    Context, Error, Exit,
    list::open_call,
    on::{One, Several},
    person::{Whole, Yes},
    terminal,
};
use machine::{
    operate::Cancellation,
    view::{ConsequenceView, Human, Language},
};

/// `acknowledge`: acknowledges a contradiction.
#[derive(Debug, clap::Args)]
pub(super) struct Acknowledge {
    #[command(flatten)]
    one: One,
}

impl Acknowledge {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, id) = self.one.open(context).await?;
        self.one.by.operates(context, &store).acknowledge(id).await?;
        let text =
            format!("{id} acknowledged: it needs attention only if another receipt arrives\n");
        self.one.by.report(json!({ "id": id }), text)
    }
}

/// `cancel`: machines that are no longer needed.
#[derive(Debug, clap::Args)]
pub(super) struct Cancel {
    #[command(flatten)]
    several: Several,
    /// The reason.
    #[arg(long, value_name = "TEXT", default_value = "no longer needed")]
    reason: String,
}

impl Cancel {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, ids) = self.several.open(context).await?;
        let operator = self.several.by.operates(context, &store);
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
        self.several.by.report(json!({ "cancelled": cancelled }), text)
    }
}

/// `fence`: fences the worker of a call and puts the call in doubt.
#[derive(Debug, clap::Args)]
pub(super) struct Fence {
    #[command(flatten)]
    one: One,
    /// The reason.
    #[arg(long, value_name = "TEXT", default_value = "its worker was fenced")]
    reason: String,
    #[command(flatten)]
    whole: Whole,
    #[command(flatten)]
    yes: Yes,
}

impl Fence {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, id) = self.one.open(context).await?;
        let operator = self.one.by.operates(context, &store);
        if !self.yes.yes || self.whole.whole {
            let call = operator.in_flight(id, Some(&self.reason)).await?;
            let what = self.whole.question_of(call.context(), context.language);
            let view = ConsequenceView::in_language(&call, context.language);
            self.yes.agrees(
                &format!(
                    "{id}  {view}\n{what}\nFence its worker? The call may have taken effect, so it is in doubt \
                     until a receipt or a person settles it."
                ),
                self.whole,
            )?;
        }
        let doubt = operator.fence(id, Some(&self.reason)).await?;
        let question = doubt.question_in(context.language);
        let shown = terminal::question(&question);
        let next = context.next(&store, id).await.join("\n      ");
        let mut text = format!(
            "{id} is in doubt: its worker is fenced, and any answer is kept as late evidence\n\
             {shown}\nnext: {next}\n"
        );
        // It is an addition only.
        let detail = Box::pin(context.observer(&store).detail::<Human>(id)).await;
        if let Some(call) = detail.ok().as_ref().and_then(|detail| detail.open_call.as_ref()) {
            let _ = writeln!(text, "its call {}", open_call(call, store.now()));
        }
        self.one.by.report(json!({ "id": id, "question": question }), text)
    }
}

/// `requeue`: retries work that workers set aside, or a machine that nothing can move.
#[derive(Debug, clap::Args)]
pub(super) struct Requeue {
    #[command(flatten)]
    several: Several,
    /// Also requeue this message to the machine, by its correlation id; repeatable.
    #[arg(long = "message", value_name = "CORRELATION")]
    messages: Vec<String>,
}

impl Requeue {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, ids) = self.several.open(context).await?;
        if ids.len() > 1 && !self.messages.is_empty() {
            return Err(Error::usage("`--message` names messages to one machine; give one id"));
        }
        self.several.by.operates(context, &store).requeue(&ids, &self.messages).await?;
        let text = ids.iter().map(|id| format!("{id}: workers will retry it"));
        let text = text.collect::<Vec<_>>().join("\n");
        self.several.by.report(json!({ "requeued": ids }), text)
    }
}

/// `retry`: another attempt at what failed, with the same key.
#[derive(Debug, clap::Args)]
pub(super) struct Retry {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    whole: Whole,
    #[command(flatten)]
    yes: Yes,
}

impl Retry {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let (store, id) = self.one.open(context).await?;
        let operator = self.one.by.operates(context, &store);
        if !self.yes.yes || self.whole.whole {
            let failed = operator.failed(id).await?;
            let what = self.whole.question_of(failed.context(), Language::English);
            let view = ConsequenceView::in_language(&failed.into(), context.language);
            self.yes.agrees(&format!("{id}  {view}\nRetry it? {what}"), self.whole)?;
        }
        let attempt = operator.retry(id).await?;
        let text = format!("{id} is retried as {attempt}: a worker runs it\n");
        self.one.by.report(json!({ "failed": id, "attempt": attempt }), text)
    }
}
