use std::ops::Deref;

use super::{ActionType, AnyExecution, Execution, Progress, execution::Waiting, fork, waits_for};
use crate::{actor::GraphRunner, language::Language, stored::Durable};

/// A question that waits for the answer of a person. A [`Gate`](super::Gate) is not a question, nor
/// is an execution that is [in doubt](super::InDoubt) or waits for the report of its service. A
/// store records the answer and resumes the execution: see
/// [`Store::respond`](crate::store::Store::respond).
#[derive(Debug)]
#[must_use = "it waits for an answer"]
pub struct Question(Execution<Waiting>);

impl Question {
    /// Narrows an execution that waits with a question; returns any other unchanged.
    pub(crate) fn narrow(any: AnyExecution) -> Result<Self, AnyExecution> {
        match any {
            AnyExecution::Waiting(waiting) if is_question(&waiting) => Ok(Self(waiting)),
            other => Err(other),
        }
    }

    /// The question. Invisible characters are escaped.
    #[must_use]
    pub fn text(&self) -> String {
        // It is the program's own text, in any language.
        waits_for(&self.0, Language::English)
    }

    /// The person who has answered it.
    #[must_use]
    pub fn answered_by(&self) -> Option<String> {
        Progress::of(&self.0).answered_by
    }

    pub(crate) fn machine(&mut self) -> &mut dyn Durable {
        &mut self.0
    }

    pub(crate) fn fork(&self) -> Self {
        Self(fork(&self.0))
    }

    /// The answer is the result of a question to a person. Any other execution returns to RUNNING.
    pub(crate) fn proceed(self, response: String, by: &GraphRunner) -> AnyExecution {
        let is_request = *self.0.context().action().action_type() == ActionType::EcsRequest;
        let running = self.0.resume(by);
        if is_request { running.succeed(response, by).into() } else { running.into() }
    }
}

impl Deref for Question {
    type Target = Execution<Waiting>;

    fn deref(&self) -> &Execution<Waiting> {
        &self.0
    }
}

fn is_question(waiting: &Execution<Waiting>) -> bool {
    let progress = Progress::of(waiting);
    waiting.context().approves().is_none() && !progress.is_in_doubt() && !progress.awaits_report()
}
