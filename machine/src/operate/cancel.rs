use serde::Serialize;
use serde_json::Map;

use super::{Draft, Error, Operator, SentMessage, operator::distinct};
use crate::{
    contract::{
        AnyExecution, Progress,
        execution::{self, Pending},
        fork,
    },
    effects::EffectError,
    id::Id,
    language::Phrase,
    store::{Store, error::CommitError},
    typed::State,
};

/// A machine that was cancelled, or will be.
#[derive(Debug, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct Cancelled {
    /// The machine.
    pub id: Id,
    /// The way.
    #[serde(flatten)]
    pub how: Cancellation,
}

/// The way in which a machine is cancelled.
#[derive(Debug, Serialize, crate::ToSchema)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Cancellation {
    /// It is cancelled now.
    AtOnce,
    /// A message was sent, and its program cancels it.
    Message(SentMessage),
}

enum Plan {
    /// It has not started; its gate ends with it.
    Pending(Id, Option<Id>),
    /// A gate; the execution behind it ends with it.
    Gate(Id, Id),
    Question(Id),
    /// A machine of the program's own, by a message.
    Own(Id, Box<Draft>),
}

impl Operator<'_> {
    /// Cancels machines: executions at once, others by a message to their programs. All are checked
    /// before anything is changed.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn cancel(&self, ids: &[Id], reason: Option<&str>) -> Result<Vec<Cancelled>, Error> {
        let ids = &*distinct(ids);
        let reason = reason.unwrap_or(Phrase::NotNeeded.english());
        let plans = self.plans(ids, reason).await;
        let plans = self.checked("cancel", ids, reason, plans).await?;
        let mut cancelled = Vec::with_capacity(ids.len());
        let mut ended = Vec::new();
        for (done, (id, plan)) in ids.iter().zip(plans).enumerate() {
            if ended.contains(id) {
                cancelled.push(Cancelled { id: *id, how: Cancellation::AtOnce });
                continue;
            }
            // A gate and its execution end together.
            let with = match &plan {
                Plan::Pending(_, gate) => *gate,
                Plan::Gate(_, execution) => Some(*execution),
                Plan::Question(_) | Plan::Own(..) => None,
            };
            ended.extend(with);
            let with = with.filter(|with| ids.contains(with));
            let machines: Vec<Id> = [*id].into_iter().chain(with).collect();
            let act = self.act("cancel", &machines, reason);
            let applied = self.apply(plan, reason, &act).await;
            let applied = self.checked("cancel", &machines, reason, applied).await;
            cancelled.push(applied.map_err(|error| error.after(&ids[..done]))?);
        }
        Ok(cancelled)
    }

    async fn plans(&self, ids: &[Id], reason: &str) -> Result<Vec<Plan>, Error> {
        let mut plans = Vec::with_capacity(ids.len());
        for id in ids {
            plans.push(self.plan(*id, reason).await?);
        }
        Ok(plans)
    }

    async fn plan(&self, id: Id, reason: &str) -> Result<Plan, Error> {
        let definition = self.store.observed_one(id).await?.definition;
        if definition.name != execution::DEFINITION.name {
            let takes_reason = definition.edges.iter().any(|edge| {
                edge.trigger == "cancel" && edge.payload.iter().any(|item| item.name == "reason")
            });
            let mut payload = Map::new();
            if takes_reason {
                payload.insert("reason".to_owned(), reason.into());
            }
            let draft = Draft::new(&self.store, id, "cancel", payload, true).await?;
            return Ok(Plan::Own(id, Box::new(draft)));
        }
        match self.store.load::<AnyExecution>(id).await? {
            AnyExecution::Pending(pending) => Ok(Plan::Pending(id, pending.context().behind())),
            any if Progress::of(&any).is_in_doubt() => Err(Error::refused(format!(
                "{id} is in doubt, so it cannot be cancelled; check whether it took effect, then \
                 `confirm {id} applied --as NAME` or `confirm {id} not-applied --as NAME`"
            ))),
            any if Progress::of(&any).awaits_report() => Err(Error::refused(format!(
                "the service of {id} has accepted the call and may carry it out, so it cannot be cancelled; wait \
                 for the report, or `fence {id} --as NAME` to put it in doubt"
            ))),
            AnyExecution::Waiting(waiting) => Ok(match waiting.context().approves() {
                Some(approval) => Plan::Gate(id, approval.execution()),
                None => Plan::Question(id),
            }),
            AnyExecution::Running(_) => Err(Error::refused(format!(
                "{id} is running; wait until it ends, or `fence {id} --as NAME` to fence its worker"
            ))),
            any => Err(Error::refused(format!(
                "{id} is {}, so there is nothing to cancel",
                any.status().definition().label
            ))),
        }
    }

    /// Carries out a plan, in one batch with the line of the act.
    async fn apply(&self, plan: Plan, reason: &str, act: &Store) -> Result<Cancelled, Error> {
        let (store, actors) = (&self.store, self.actors);
        let id = match plan {
            Plan::Own(id, draft) => {
                let accepted = draft.send(act, self.by, None).await?;
                return Ok(Cancelled { id, how: Cancellation::Message(accepted) });
            }
            Plan::Pending(id, _) => {
                // Not `resume`, which refuses what another execution has done: that never runs, and
                // is only cancelled.
                let pending = Pending::narrow(store.load(id).await?)
                    .map_err(|_| EffectError::Commit(CommitError::Conflict { id }))?;
                drop(act.cancel(pending, reason, &actors.tool_node).await?);
                id
            }
            Plan::Gate(id, _) => {
                let gate = store.gate(id).await?;
                drop(act.withdraw(gate, reason, &actors.graph_runner).await?);
                id
            }
            Plan::Question(id) => {
                let question = store.question(id).await?;
                let ended = fork(&question).cancel(reason.to_owned(), &actors.graph_runner);
                drop(act.advance(question, ended).await?);
                id
            }
        };
        Ok(Cancelled { id, how: Cancellation::AtOnce })
    }
}
