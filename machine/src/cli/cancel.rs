use serde_json::{Map, Value, json};

use super::{
    Context, Error, Exit,
    answer::{Answer, Format},
    ids::Ids,
    person::Person,
    send::{Accepted, Draft},
};
use crate::{
    contract::{AnyExecution, Progress, execution},
    id::Id,
    store::Store,
};

/// `cancel`: what is not needed any more.
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

/// What is cancelled, and how.
enum Plan {
    /// It has not started.
    Pending(Id),
    /// A gate that nobody needs to answer.
    Gate(Id),
    /// A question that nobody needs to answer.
    Question(Id),
    /// A machine of the program's own, by a message.
    Own(Id, Box<Draft>),
}

impl Cancel {
    pub(super) async fn run(self, context: &Context) -> Result<Exit, Error> {
        let store = context.write().await?;
        // All are looked at before anything is changed.
        let mut plans = Vec::new();
        for id in Ids::read(&store).await?.find_all(&self.ids)? {
            plans.push(self.plan(&store, id).await?);
        }
        let (mut cancelled, mut done, mut text) = (Vec::new(), Vec::new(), String::new());
        for plan in plans {
            let (id, document, line) = match self.apply(context, &store, plan).await {
                Ok(applied) => applied,
                Err(error) => return Err(error.after(&done)),
            };
            done.push(id);
            cancelled.push(document);
            text.push_str(&line);
        }
        Answer::new(json!({ "cancelled": cancelled }), text).print(self.format)
    }

    async fn plan(&self, store: &Store, id: Id) -> Result<Plan, Error> {
        let definition = store.observed_one(id).await?.definition;
        if definition.name != execution::DEFINITION.name {
            let takes_reason = definition.edges.iter().any(|edge| {
                edge.trigger == "cancel" && edge.payload.iter().any(|item| item.name == "reason")
            });
            let mut payload = Map::new();
            if takes_reason {
                payload.insert("reason".to_owned(), self.reason.clone().into());
            }
            let draft = Draft::new(store, id, "cancel", payload).await?;
            return Ok(Plan::Own(id, Box::new(draft)));
        }
        match store.load::<AnyExecution>(id).await? {
            AnyExecution::Pending(_) => Ok(Plan::Pending(id)),
            AnyExecution::Waiting(waiting) if waiting.context().approves().is_some() => {
                Ok(Plan::Gate(id))
            }
            any if Progress::of(&any).is_in_doubt() => Err(Error::refused(format!(
                "{id} is in doubt, so it cannot be cancelled; find out whether it took place, then \
                 `confirm {id} applied|not-applied --as NAME`"
            ))),
            AnyExecution::Waiting(_) => Ok(Plan::Question(id)),
            AnyExecution::Running(_) => Err(Error::refused(format!(
                "{id} is running; wait for its end, or `fence {id}` to shut its worker out"
            ))),
            any => Err(Error::refused(format!(
                "{id} is {}, so there is nothing to cancel",
                any.status().definition().label
            ))),
        }
    }

    async fn apply(
        &self,
        context: &Context,
        store: &Store,
        plan: Plan,
    ) -> Result<(Id, Value, String), Error> {
        let (actors, reason) = (&context.actors, &*self.reason);
        let id = match plan {
            Plan::Own(id, draft) => {
                let Accepted { correlation, warning } =
                    draft.send(store, None, &self.person.by).await?;
                let more =
                    warning.as_deref().map(|warning| format!("; {warning}")).unwrap_or_default();
                let line = format!("{id}: sent `cancel`{more}\n");
                let document = json!({
                    "id": id, "how": "message", "correlation": correlation, "warning": warning,
                });
                return Ok((id, document, line));
            }
            Plan::Pending(id) => {
                let pending = store.resume::<execution::Pending>(id).await?;
                drop(store.cancel(pending, reason, &actors.tool_node).await?);
                id
            }
            Plan::Gate(id) => {
                drop(store.withdraw(store.gate(id).await?, reason, &actors.graph_runner).await?);
                id
            }
            Plan::Question(id) => {
                let waiting = store.resume::<execution::Waiting>(id).await?;
                let mut cancelled = waiting.cancel(reason.to_owned(), &actors.graph_runner);
                store.commit(&mut cancelled).await?;
                id
            }
        };
        Ok((id, json!({ "id": id, "how": "at_once" }), format!("{id} cancelled\n")))
    }
}
