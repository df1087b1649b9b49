use crate::{
    actor::Human,
    actor::who::who,
    contract::{AnyExecution, CallFact, GraphPosition, Progress, Question, append, bounded},
    effects::{
        error::{EffectError, StateError},
        resume::at_position,
        retry::Retry,
    },
    id::Id,
    store::{error::LoadError, handle::Store, operation::Act},
    typed::Refused,
};

impl Store {
    /// Loads an execution that waits with a question to a person.
    ///
    /// # Errors
    ///
    /// [`StateError::NotAQuestion`] if it does not wait, is a gate, is in doubt, or waits for the
    /// report of its service; and those of [`load`](Self::load).
    pub async fn question(&self, id: Id) -> Result<Question, StateError> {
        let any: AnyExecution = self.load(id).await?;
        Question::narrow(any).map_err(|other| {
            let _ = at_position(id, GraphPosition::ResumeBegins, other.status());
            StateError::NotAQuestion { id, found: not_a_question(&other) }
        })
    }

    /// Stores a person's answer to a question. The execution still waits:
    /// [`proceed`](Self::proceed) resumes it. Of a long answer the first 64 KiB are kept.
    ///
    /// # Errors
    ///
    /// The unchanged question, with [`CommitError::Refused`](crate::store::CommitError::Refused) if
    /// it was already answered, and [`CommitError::Conflict`](crate::store::CommitError::Conflict)
    /// if it was changed in the meantime.
    ///
    /// ```
    /// use machine::actor::{Actors, Human};
    /// use machine::contract::{AnyExecution, Contract, Execution};
    /// use machine::effects::Resume;
    /// use machine::store::Store;
    ///
    /// # pollster::block_on(async {
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
    /// let done = store.proceed(question, Resume::default(), &actors.graph_runner).await?;
    /// let AnyExecution::Completed(done) = done.execution else { panic!("it has its answer") };
    /// assert_eq!(done.state().result, "8080");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn respond(
        &self,
        question: Question,
        response: &str,
        by: &Human,
    ) -> Result<Question, Refused<Question, EffectError>> {
        let mut next = question.fork();
        let (response, at) = (bounded(response.to_owned()), self.now());
        append(next.machine(), who(by), CallFact::Answered { response, at });
        let act = Act::new(by, "respond", &[question.id()], "");
        let batch = self.batch().act(Some(act.clone())).commit(next.machine());
        let written = batch.write_with(Retry::default()).await;
        let written = written.map(|()| next).map_err(|reason| Refused::new(question, reason));
        self.log_refusal([act], written).await
    }

    /// The answer, which only the journal has.
    pub(super) async fn response(&self, id: Id) -> Result<Option<String>, LoadError> {
        let history = self.history(id).await?;
        let mut facts = history.entries.iter().rev().filter_map(CallFact::of);
        Ok(facts.find_map(|fact| match fact {
            CallFact::Answered { response, .. } => Some(response),
            _ => None,
        }))
    }
}

fn not_a_question(other: &AnyExecution) -> String {
    match other {
        AnyExecution::Waiting(gate) if gate.context().approves().is_some() => {
            "a gate, which is approved or declined".to_owned()
        }
        waiting @ AnyExecution::Waiting(_) if Progress::of(waiting).awaits_report() => {
            "waiting for the report of its service".to_owned()
        }
        AnyExecution::Waiting(_) => "in doubt, and must be confirmed".to_owned(),
        other => other.status().definition().label.to_string(),
    }
}
