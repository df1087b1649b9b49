use tracing::field::display;

use super::{CommitError, Store, begin::Approved, telemetry};
use crate::{
    actor::Human,
    contract::{
        Decided, Decision, Extent, Gate, WholeQuestion, Wording, execution, execution::Status,
    },
    id::Id,
    journal::Digest,
    language::Language,
    stored::{Durable, Snapshot},
};

/// The answer to a gate, as a part of a [`Batch`](super::Batch), where several are answered together
/// or a workflow moves with them. See [`Store::approve`].
///
/// ```
/// # use machine::{actor::Human, contract::{Gate, WholeQuestion}, store::{CommitError, Decide, Store}};
/// # async fn example(store: &Store, first: Gate, second: Gate, shown: WholeQuestion, ann: &Human)
/// # -> Result<(), CommitError> {
/// let mut first = Decide::approve(first, shown.digest, ann);
/// let mut second = Decide::decline(second, "wrong address", ann);
/// store.batch().decide(&mut first).decide(&mut second).write().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Decide {
    step: Step,
    answer: Answer,
    by: Human,
}

#[derive(Debug)]
enum Answer {
    /// With the digest of the question that was shown.
    Approve(Digest),
    /// With the reason.
    Decline(String),
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
enum Step {
    Asked(Gate),
    /// In the batch, with what is needed to put the gate back.
    Recorded(Decided, Box<Snapshot>, Option<Wording>),
    Decided(Decided),
    /// Only while one step becomes the next.
    Taken,
}

impl Decide {
    /// Will approve; `shown` is the digest of the [whole question](Gate::whole_question).
    #[must_use]
    pub fn approve(gate: Gate, shown: Digest, by: &Human) -> Self {
        Self { step: Step::Asked(gate), answer: Answer::Approve(shown), by: by.clone() }
    }

    /// Will decline, for this reason.
    #[must_use]
    pub fn decline(gate: Gate, reason: &str, by: &Human) -> Self {
        let answer = Answer::Decline(crate::contract::bounded(reason.to_owned()));
        Self { step: Step::Asked(gate), answer, by: by.clone() }
    }

    /// The answer as it is on record, when the batch was written.
    #[must_use]
    pub fn decided(self) -> Option<Decision> {
        match self.step {
            Step::Decided(decided) => Some(decided.decision()),
            _ => None,
        }
    }

    /// The gate, if the batch was not written.
    #[must_use]
    pub fn into_gate(self) -> Option<Gate> {
        match self.step {
            Step::Asked(gate) => Some(gate),
            _ => None,
        }
    }

    /// The gate and its approval, if the answer is yes. It was recorded.
    pub(super) fn approval(&mut self) -> Option<(Id, Approved)> {
        let Step::Recorded(decided, ..) = &mut self.step else { return None };
        let decision = decided.decision();
        let id = decided.machine().journal().id();
        decision.approved.then(|| (id, Approved::new(id, &decision.by, decision.expires_at)))
    }

    pub(super) async fn record(&mut self, store: &Store) -> Result<(), CommitError> {
        let Step::Asked(gate) = &mut self.step else { return Ok(()) };
        let id = gate.id();
        let now = store.now();
        if gate.execution().journal().version() == 0 {
            return Err(CommitError::NeverStored { id });
        }
        let refused = match gate.expires_at().filter(|at| *at <= now) {
            Some(at) => Err(CommitError::GateExpired { id, at }),
            None => store.is_unchanged(gate, &self.answer).await,
        };
        if let Err(error) = refused {
            return Err(store.decided_by_another(id, error).await);
        }
        telemetry::Resuming {
            kind: execution::DEFINITION.name(),
            id: display(id),
            state: &Status::Waiting.definition().name,
            age_ms: gate.age_ms(now),
        }
        .emit();
        let snapshot = Snapshot::of(gate.machine())
            .map_err(|error| CommitError::Unwritable { id, reason: error.to_string() })?;
        let Step::Asked(gate) = std::mem::replace(&mut self.step, Step::Taken) else {
            unreachable!("it was asked above")
        };
        let (decided, whole) = match &self.answer {
            Answer::Approve(_) => gate.decided(None, &self.by, now),
            Answer::Decline(reason) => gate.decided(Some(reason), &self.by, now),
        };
        self.step = Step::Recorded(decided, Box::new(snapshot), whole);
        Ok(())
    }

    pub(super) fn machine(&mut self) -> &mut dyn Durable {
        match &mut self.step {
            Step::Asked(gate) => gate.machine(),
            Step::Recorded(decided, ..) | Step::Decided(decided) => decided.machine(),
            Step::Taken => unreachable!("no step is left unfinished"),
        }
    }

    pub(super) fn finish(&mut self) {
        self.step = match std::mem::replace(&mut self.step, Step::Taken) {
            Step::Recorded(decided, ..) => Step::Decided(decided),
            other => other,
        };
    }

    pub(super) fn undo(&mut self) {
        self.step = match std::mem::replace(&mut self.step, Step::Taken) {
            Step::Recorded(_, snapshot, whole) => match Gate::of_snapshot(*snapshot, whole) {
                Some(gate) => Step::Asked(gate),
                None => unreachable!("the snapshot was taken from a gate"),
            },
            other => other,
        };
    }
}

impl Store {
    /// Refuses an answer that the gate cannot have.
    async fn is_unchanged(&self, gate: &Gate, answer: &Answer) -> Result<(), CommitError> {
        match answer {
            Answer::Approve(shown) => {
                let (behind, _) = self.approvable(gate).await?;
                let whole = Wording::of(behind.context(), Extent::Whole);
                let whole = WholeQuestion::new(&whole, Language::English);
                if whole.digest == *shown {
                    Ok(())
                } else {
                    Err(CommitError::NotShown { id: gate.id() })
                }
            }
            Answer::Decline(_) => self.behind(gate).await.map(drop),
        }
    }
}
