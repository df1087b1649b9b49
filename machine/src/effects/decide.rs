use tracing::field::display;

use crate::{
    actor::Human,
    contract::{
        AnsweredGate, Decision, Extent, Gate, WholeQuestion,
        execution::{self, Status},
    },
    effects::{
        begin::state_not_left,
        change::{Change, Finish, Fork, ForkChange},
        error::EffectError,
    },
    future::BoxFuture,
    id::Id,
    journal::Digest,
    language::Language,
    store::{backend::Condition, error::CommitError, handle::Store, operation::Act},
    stored::Durable,
    telemetry,
};

impl Change<'_, Gate, Decision> {
    /// Will approve; `shown` is the digest of the [whole question](Gate::whole_question). See
    /// [`Store::approve`].
    #[must_use]
    pub fn approve(gate: Gate, shown: Digest, by: &Human) -> Self {
        Self::decide(gate, GateAnswer::Approve(shown), by)
    }

    /// Will decline, for this reason. See [`Store::decline`].
    #[must_use]
    pub fn decline(gate: Gate, reason: &str, by: &Human) -> Self {
        Self::decide(gate, GateAnswer::Decline(crate::contract::bounded(reason.to_owned())), by)
    }

    fn decide(gate: Gate, answer: GateAnswer, by: &Human) -> Self {
        let fork = Fork::new(gate);
        Self(Box::new(Decide { fork, answer, by: by.clone(), condition: None }))
    }
}

struct Decide {
    fork: Fork<Gate, AnsweredGate>,
    answer: GateAnswer,
    by: Human,
    condition: Option<Condition>,
}

enum GateAnswer {
    Approve(Digest),
    Decline(String),
}

impl Decide {
    async fn record(&mut self, store: &Store) -> Result<AnsweredGate, EffectError> {
        let gate = &self.fork.before;
        let (id, now) = (gate.id(), store.now());
        if gate.journal().version() == 0 {
            return Err(EffectError::Commit(CommitError::NeverStored { id }));
        }
        if let Some(at) = gate.expires_at().filter(|at| *at <= now) {
            return Err(EffectError::GateExpired { id, at });
        }
        let reason = match &self.answer {
            GateAnswer::Approve(shown) => {
                let (behind, _) = store.approvable(gate).await?;
                let whole = behind.context().wording(Extent::Whole);
                if WholeQuestion::new(&whole, Language::English).digest != *shown {
                    return Err(EffectError::NotShown { id });
                }
                self.condition = state_not_left(id, behind.id(), behind.context());
                None
            }
            GateAnswer::Decline(reason) => {
                drop(store.behind(gate).await?);
                Some(&**reason)
            }
        };
        telemetry::Resuming {
            kind: execution::DEFINITION.name(),
            id: display(id),
            state: &Status::Waiting.definition().name,
            age_ms: gate.age_ms(now),
        }
        .emit();
        Ok(gate.decided(reason, &self.by, now))
    }
}

impl ForkChange for Decide {
    fn prepare<'a>(
        &'a mut self,
        store: &'a Store,
        _: &'a [(Id, String)],
    ) -> BoxFuture<'a, Result<(), EffectError>> {
        Box::pin(async move {
            if self.fork.next.is_none() {
                match self.record(store).await {
                    Ok(decided) => self.fork.next = Some(decided),
                    Err(error) => {
                        return Err(store.decided_by_another(self.fork.before.id(), error).await);
                    }
                }
            }
            Ok(())
        })
    }

    fn machine(&mut self) -> &mut dyn Durable {
        match &mut self.fork.next {
            Some(decided) => &mut decided.gate,
            None => self.fork.before.machine(),
        }
    }

    fn approval(&self) -> Option<(Id, String)> {
        let is_approved = matches!(self.answer, GateAnswer::Approve(_));
        let by = crate::actor::who::who(&self.by).name.unwrap_or_default();
        is_approved.then(|| (self.fork.before.id(), by.to_owned()))
    }

    fn act(&self) -> Option<Act> {
        let (operation, reason) = match &self.answer {
            GateAnswer::Approve(_) => ("approve", ""),
            GateAnswer::Decline(reason) => ("decline", &**reason),
        };
        Some(Act::new(&self.by, operation, &[self.fork.before.id()], reason))
    }

    fn conditions(&self) -> Vec<Condition> {
        self.condition.iter().cloned().collect()
    }

    fn committed(&mut self, _: &Store, _: u64) {
        self.fork.committed();
    }

    fn discard(&mut self) {
        self.fork.next = None;
    }

    /// The loser of two who answer a gate learns who won.
    fn explain<'a>(
        &'a mut self,
        store: &'a Store,
        error: EffectError,
    ) -> BoxFuture<'a, EffectError> {
        let id = self.fork.before.id();
        Box::pin(async move {
            match error {
                EffectError::Commit(CommitError::Conflict { id: of }) if of == id => {
                    store.decided_by_another(id, error).await
                }
                error => error,
            }
        })
    }
}

impl Finish<Gate, Decision> for Decide {
    fn finish(self: Box<Self>) -> Result<Decision, Gate> {
        self.fork.finish().map(|decided| decided.decision)
    }
}
