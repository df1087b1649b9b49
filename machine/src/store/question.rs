use super::{CommitError, LoadError, Store, retry::Retry};
use crate::{
    actor::{GraphRunner, Human},
    contract::{AnyExecution, CallFact, Progress, Question, bounded},
    id::Id,
    stored::{Durable, Snapshot},
    typed::Refused,
};

impl Store {
    /// Loads an execution that waits with a question to a person.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotAQuestion`] if it does not wait, is a gate, is in doubt, or waits for the report of its service; and those of
    /// [`load`](Self::load).
    pub async fn question(&self, id: Id) -> Result<Question, LoadError> {
        let any: AnyExecution = self.load(id).await?;
        Question::narrow(any).map_err(|other| LoadError::NotAQuestion {
            id,
            found: match &other {
                AnyExecution::Waiting(gate) if gate.context().approves().is_some() => {
                    "a gate, which is approved or declined".to_owned()
                }
                waiting @ AnyExecution::Waiting(_) if Progress::of(waiting).awaits_report() => {
                    "waiting for the report of its service".to_owned()
                }
                AnyExecution::Waiting(_) => "in doubt, and must be confirmed".to_owned(),
                other => other.status().definition().label.to_string(),
            },
        })
    }

    /// Stores a person's answer to a question (OB-15). The execution still waits:
    /// [`proceed`](Self::proceed) resumes it. Of a long answer the first 64 KiB are kept.
    ///
    /// # Errors
    ///
    /// The unchanged question, with [`CommitError::Refused`] if somebody has answered it, and
    /// [`CommitError::Conflict`] if it was changed in the meantime.
    ///
    /// ```
    /// use machine::actor::{Actors, Human};
    /// use machine::contract::{AnyExecution, Contract, Execution};
    /// use machine::store::Store;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// # let store = Store::memory();
    /// let actors = Actors::issue("assistant")?;
    /// let asked = Contract::ecs_request("Which port?", &actors.reasoning_node)?;
    /// let mut waiting = Execution::new(asked)
    ///     .start(&actors.ecs_node)
    ///     .suspend("Which port?".to_owned(), &actors.ecs_node);
    /// store.create(&mut waiting).await?;
    ///
    /// let question = store.question(waiting.id()).await?;
    /// let question = store.respond(question, "8080", &Human::new("ann")?).await?;
    /// let done = store.proceed(question, &actors.graph_runner).await?;
    /// let AnyExecution::Completed(done) = done else { panic!("it has its answer") };
    /// assert_eq!(done.state().result, "8080");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn respond(
        &self,
        mut question: Question,
        response: &str,
        by: &Human,
    ) -> Result<Question, Refused<Question, CommitError>> {
        let snapshot = match snapshot(&mut question) {
            Ok(snapshot) => snapshot,
            Err(reason) => return Err(Refused::new(question, reason)),
        };
        question.record(bounded(response.to_owned()), by, self.now());
        match self.written(question.machine()).await {
            Ok(()) => Ok(question),
            Err(reason) => Err(Refused::new(restored(snapshot), reason)),
        }
    }

    /// Resumes a question with its stored answer. A [question to a
    /// person](crate::contract::Contract::ecs_request) becomes COMPLETED, with the answer as its result;
    /// any other execution becomes RUNNING, and its program goes on.
    ///
    /// # Errors
    ///
    /// The unchanged question, with [`CommitError::Unanswered`] if nobody has answered it, and
    /// [`CommitError::Conflict`] if it was changed in the meantime.
    pub async fn proceed(
        &self,
        mut question: Question,
        by: &GraphRunner,
    ) -> Result<AnyExecution, Refused<Question, CommitError>> {
        let id = question.id();
        let response = match self.response(&question).await {
            Ok(Some(response)) => response,
            Ok(None) => return Err(Refused::new(question, CommitError::Unanswered { id })),
            Err(LoadError::Unavailable(error)) => return Err(Refused::new(question, error.into())),
            Err(error) => {
                let reason = CommitError::Unwritable { id, reason: error.to_string() };
                return Err(Refused::new(question, reason));
            }
        };
        let snapshot = match snapshot(&mut question) {
            Ok(snapshot) => snapshot,
            Err(reason) => return Err(Refused::new(question, reason)),
        };
        let mut resumed = question.proceed(response, by);
        match self.written(&mut resumed).await {
            Ok(()) => Ok(resumed),
            Err(reason) => Err(Refused::new(restored(snapshot), reason)),
        }
    }

    /// The answer, which only the journal has.
    async fn response(&self, question: &Question) -> Result<Option<String>, LoadError> {
        if question.answered_by().is_none() {
            return Ok(None);
        }
        let history = self.history(question.id()).await?;
        let mut facts = history.entries.iter().rev().filter_map(CallFact::of);
        Ok(facts.find_map(|fact| match fact {
            CallFact::Answered { response, .. } => Some(response),
            _ => None,
        }))
    }

    /// Commits a machine, also if it is not known at first whether it was written.
    async fn written(&self, machine: &mut dyn Durable) -> Result<(), CommitError> {
        let mut retry = Retry::default();
        loop {
            let Err(error) = self.batch().commit(machine).write().await else { return Ok(()) };
            if let Some(error) = retry.after(error) {
                return Err(error);
            }
        }
    }
}

fn snapshot(question: &mut Question) -> Result<Snapshot, CommitError> {
    let id = question.id();
    Snapshot::of(question.machine())
        .map_err(|error| CommitError::Unwritable { id, reason: error.to_string() })
}

fn restored(snapshot: Snapshot) -> Question {
    match Question::of_snapshot(snapshot) {
        Some(question) => question,
        None => unreachable!("the snapshot was taken from a question"),
    }
}
