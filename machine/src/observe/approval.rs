use serde::Serialize;

use super::{NextStep, Observer};
use crate::view::{Human, View, audience::due};
use crate::{
    actor::Category,
    clock::Millis,
    contract::{AnyExecution, Gate, Release, execution},
    effects::{Standing, StateError},
    id::Id,
    store::{LoadError, Page, Query},
};

/// A gate that waits for an answer, for the person who gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, crate::ToSchema)]
#[non_exhaustive]
pub struct Approval {
    /// The gate.
    pub gate: Id,
    /// The execution that may run once it is approved.
    pub execution: Id,
    /// The exact action, as a question. Long arguments are cut; then its second line names what is
    /// hidden.
    pub question: String,
    /// The digest of the question, which an approval needs; `None` if a part is hidden:
    /// [`Gate::whole_question`](crate::contract::Gate::whole_question) has all of it.
    pub digest: Option<String>,
    /// A short description of the action.
    pub summary: String,
    /// The tool, such as `email.send`.
    pub tool: Option<String>,
    /// The category of who asks.
    pub asked_by: Category,
    /// The session.
    pub session: Option<String>,
    /// It cannot be undone.
    pub irreversible: bool,
    /// Since when it waits (milliseconds since the Unix epoch).
    pub waiting_since: Millis,
    /// Until when it can be answered (milliseconds since the Unix epoch, by the clock of the
    /// store).
    pub expires_at: Option<Millis>,
    /// The reason why it can no longer be approved.
    pub stale: Option<String>,
    /// A caution before it is approved: another execution may be performing the same action, or a
    /// call of the same tool and session is in doubt.
    pub caution: Option<String>,
    /// The actions that a person can take.
    pub next: Vec<NextStep>,
}

impl View<Approval> {
    /// Withholds the digest, for an interface that does not show the whole question.
    #[must_use]
    pub fn without_digest(self) -> Self {
        Self::new(Approval { digest: None, ..self.into_inner() })
    }
}

impl Observer {
    /// A page of the gates that wait for an answer, in the order and from the place of a query. A
    /// gate that cannot be read is left out: it [needs attention](Self::attention).
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn approvals(&self, query: &Query) -> Result<Page<View<Approval>>, LoadError> {
        let mut query = query
            .clone()
            .machine(&*execution::DEFINITION.name)
            .status(execution::Status::Waiting.as_str())
            .live();
        let mut items = Vec::new();
        loop {
            let page = self.store.load_all::<AnyExecution>(&query).await?;
            for execution in page.items.into_iter().flatten() {
                if execution.context().approves().is_some() {
                    items.extend(self.approval(&execution).await?.map(View::new));
                }
            }
            match page.next {
                // Questions that are not gates wait, too.
                Some(next) if items.is_empty() => query = query.after(next),
                next => return Ok(Page { items, next }),
            }
        }
    }

    /// The gate with this id, if it waits for an answer.
    pub(super) async fn waiting_gate(&self, id: Id) -> Result<Option<Gate>, LoadError> {
        match self.store.gate(id).await {
            Ok(gate) => Ok(Some(gate)),
            Err(StateError::Load(LoadError::Unavailable(error))) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    /// The gate with this id, if it waits for an answer that can still be given.
    pub(super) async fn open_gate(&self, id: Id) -> Result<Option<Gate>, LoadError> {
        let Some(gate) = self.waiting_gate(id).await? else { return Ok(None) };
        Ok(self.store.standing(&gate).await?.stale.is_none().then_some(gate))
    }

    /// The gate that a deferred execution waits for, and what can still be answered of it.
    pub(super) async fn deferred_by(
        &self,
        execution: &AnyExecution,
    ) -> Result<(Option<Id>, Option<Gate>), LoadError> {
        let gate = execution.context().behind();
        let Some(id) = gate.filter(|_| Release::of(execution) == Some(Release::Deferred)) else {
            return Ok((None, None));
        };
        Ok((Some(id), self.open_gate(id).await?))
    }

    /// `None` if it was answered in the meantime.
    async fn approval(&self, asked: &AnyExecution) -> Result<Option<Approval>, LoadError> {
        let Some(gate) = self.waiting_gate(asked.id()).await? else { return Ok(None) };
        let contract = gate.context();
        let behind = gate.approval().execution();
        let action = self.store.readable(behind).await?;
        let (tool, irreversible) = action.map_or((None, false), |action| {
            (action.context().action().tool_name(), action.context().is_irreversible())
        });
        let author = contract.made_by().0;
        let Standing { stale, caution } = self.standing(&gate).await?;
        let since = gate.journal().summary().entered_at;
        Ok(Some(Approval {
            gate: gate.id(),
            execution: behind,
            question: gate.question_in(self.language).into_owned(),
            digest: gate.digest_if_whole().map(|digest| digest.to_string()),
            summary: contract.summary_in(self.language).into_owned(),
            tool,
            asked_by: execution::DEFINITION.category(author),
            session: contract.session_id().map(str::to_owned),
            irreversible,
            waiting_since: since,
            expires_at: gate.expires_at().map(|at| due::<Human>(at, since)),
            stale,
            caution,
            next: self.next_of_execution(asked).await?,
        }))
    }
}
