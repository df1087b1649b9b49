use std::time::Duration;

use tracing::field::display;

use crate::{
    actor::GraphRunner,
    clock::{Millis, millis, millis_between},
    contract::{
        ActionType, AnyExecution, GraphPosition, Mismatch, Progress, Question,
        execution::{self, Status},
    },
    definition::Definition,
    effects::error::{EffectError, StateError},
    id::Id,
    store::{
        error::LoadError,
        handle::Store,
        read::query::{MachineLine, Query},
    },
    stored::{Durable, Index, Restore, VerifyError},
    telemetry,
    typed::{Refused, State},
};

/// Optional checks before a waiting machine is resumed, in addition to the mandatory ones.
///
/// ```
/// use std::time::Duration;
/// use machine::effects::Resume;
///
/// let checks = Resume { max_age: Some(Duration::from_secs(3600)), resuming: Some(1) };
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resume {
    /// Refuses a machine that has waited longer, counted from its entry into the state. A stored
    /// answer does not restart the time.
    pub max_age: Option<Duration>,
    /// The number of machines of the session that are being resumed. If it differs from the number
    /// that wait, there is a warning through `tracing` and in [`Resumed`].
    pub resuming: Option<usize>,
}

/// An execution that was resumed with its answer. See [`Store::proceed`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Resumed {
    /// The execution now.
    pub execution: AnyExecution,
    /// The time that it had waited, in milliseconds.
    pub age_ms: u64,
    /// Mismatches that did not prevent it from being resumed.
    pub warnings: Vec<ResumeWarning>,
}

/// A mismatch found when a machine is resumed. It is also emitted through `tracing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeWarning {
    /// The number of waiting machines differs from the number that the program says it resumes.
    #[error("the caller resumes {resuming} of the session, but {waiting} were waiting")]
    Number {
        /// The number that the program says it resumes.
        resuming: usize,
        /// The number that waited, including this one.
        waiting: usize,
    },
    /// The execution is not where the graph is.
    #[error(transparent)]
    Position(Mismatch),
}

/// The input of the checks. Owned, because machines cannot be shared between threads.
struct Waits {
    id: Id,
    definition: &'static Definition,
    state: usize,
    entered_at: Millis,
    index: Index,
    awaits_report: bool,
}

impl Waits {
    fn of(machine: &impl Durable) -> Result<Self, VerifyError> {
        let (journal, state) = (machine.journal(), machine.state_index());
        let (id, summary) = (journal.id(), &journal.stored().summary);
        let index = Index::of(machine).map_err(|breach| VerifyError::Rules { id, breach })?;
        let (definition, entered_at) = (machine.definition(), summary.entered_at);
        let awaits_report = index.contract && Progress::part(&summary.context).awaits_report();
        Ok(Self { id, definition, state, entered_at, index, awaits_report })
    }
}

impl Store {
    /// Loads a waiting machine to resume it. It must exist, pass verification, be in state `S` and
    /// not in doubt, and no other execution may have completed its action (for a gate, the action
    /// behind it).
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Self::load), [`StateError::OtherState`], [`StateError::InDoubt`],
    /// [`StateError::AwaitsReport`] and [`StateError::AlreadyDone`].
    pub async fn resume<S>(&self, id: Id) -> Result<S::Machine, StateError>
    where
        S: State<Any: Restore>,
    {
        self.resume_with::<S>(id, Resume::default()).await
    }

    /// Like [`resume`](Self::resume), with further checks.
    ///
    /// # Errors
    ///
    /// The errors of [`resume`](Self::resume), and [`StateError::Expired`].
    pub async fn resume_with<S>(&self, id: Id, checks: Resume) -> Result<S::Machine, StateError>
    where
        S: State<Any: Restore>,
    {
        let machine: S::Any = self.load(id).await?;
        let definition = machine.definition();
        let (found, wanted) = (machine.state_index(), S::INDEX);
        if found != wanted {
            is_resumed(id, definition, (found, wanted));
            return Err(StateError::OtherState {
                id,
                expected: &definition.states[wanted].label,
                found: &definition.states[found].label,
                legal: definition.legal_moves(found).to_string(),
            });
        }
        let waits = Waits::of(&machine)?;
        self.before_resume(&waits, checks).await?;
        Ok(S::narrow(machine).map_err(|_| LoadError::NotFound { id })?)
    }

    /// Resumes a question with its stored answer. A
    /// [question to a person](crate::contract::Contract::ecs_request) becomes COMPLETED, with the
    /// answer as its result; any other execution becomes RUNNING, and its program continues.
    ///
    /// ```
    /// # use machine::{actor::GraphRunner, contract::Question, effects::Resume, store::Store};
    /// # use std::time::Duration;
    /// # async fn example(store: &Store, question: Question, by: &GraphRunner) {
    /// let checks = Resume { max_age: Some(Duration::from_secs(3600)), resuming: Some(1) };
    /// match store.proceed(question, checks, by).await {
    ///     Ok(resumed) => resumed.warnings.iter().for_each(|warning| eprintln!("{warning}")),
    ///     Err(refused) => eprintln!("{}", refused.reason),
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The unchanged question, with [`EffectError::Unanswered`] if no one has answered it,
    /// [`EffectError::NotResumed`] if another execution has completed its action or it has waited
    /// longer than the limit, and [`CommitError::Conflict`](crate::store::CommitError::Conflict) if
    /// it was changed in the meantime.
    pub async fn proceed(
        &self,
        question: Question,
        checks: Resume,
        by: &GraphRunner,
    ) -> Result<Resumed, Refused<Question, EffectError>> {
        let id = question.id();
        let waits = Waits::of(&*question).map_err(StateError::from);
        let is_answered = question.answered_by().is_some();
        let checked = async {
            if !is_answered {
                return Err(EffectError::Unanswered { id });
            }
            let not_resumed = |error| match error {
                StateError::Load(LoadError::Unavailable(error)) => error.into(),
                source => EffectError::NotResumed { source: Box::new(source) },
            };
            let waits = waits.map_err(not_resumed)?;
            let checked = self.before_resume(&waits, checks).await;
            let (age_ms, warnings) = checked.map_err(not_resumed)?;
            let response = self.response(id).await.map_err(|error| not_resumed(error.into()))?;
            Ok((age_ms, warnings, response.ok_or(EffectError::Unanswered { id })?))
        };
        let (age_ms, mut warnings, response) = match checked.await {
            Ok(checked) => checked,
            Err(reason) => return Err(Refused::new(question, reason)),
        };
        let next = question.fork().proceed(response, by);
        match self.advance(question, next).await {
            Ok(execution) => {
                // An execution that a program suspended continues; then the graph is not done yet.
                if *execution.context().action().action_type() == ActionType::EcsRequest {
                    let (ends, found) = (GraphPosition::ResumeEnds, execution.status());
                    warnings.extend(at_position(id, ends, found));
                }
                Ok(Resumed { execution, age_ms, warnings })
            }
            Err(refused) => {
                if refused.reason.is_conflict()
                    && let Ok(now) = self.load::<AnyExecution>(id).await
                {
                    let _ = at_position(id, GraphPosition::ResumeBegins, now.status());
                }
                Err(refused)
            }
        }
    }

    /// The time that a machine has waited, in milliseconds, if it is within the limit.
    pub(crate) fn age(
        &self,
        id: Id,
        entered_at: Millis,
        checks: Resume,
    ) -> Result<u64, StateError> {
        let age_ms = millis_between(entered_at, self.now());
        match checks.max_age {
            Some(limit) if Duration::from_millis(age_ms) > limit => {
                Err(StateError::Expired { id, age_ms, limit_ms: millis(limit) })
            }
            _ => Ok(age_ms),
        }
    }

    /// Checks a machine that is about to be resumed. Returns how long it has waited, and what does
    /// not fit.
    async fn before_resume(
        &self,
        waits: &Waits,
        checks: Resume,
    ) -> Result<(u64, Vec<ResumeWarning>), StateError> {
        let Waits { id, definition, state, entered_at, index, awaits_report } = waits;
        let id = *id;
        // An idempotent call that was interrupted may simply run again.
        if index.permit.is_some() && index.exclusive {
            return Err(if *awaits_report {
                StateError::AwaitsReport { id }
            } else {
                StateError::InDoubt { id }
            });
        }
        let age_ms = self.age(id, *entered_at, checks)?;
        self.not_done(id, index).await?;
        let mut warnings = Vec::new();
        if let Some(resuming) = checks.resuming {
            warnings.extend(self.compare_with_waiting(waits, resuming).await?);
        }
        // A machine that does not wait is only loaded.
        if definition.states[*state].stable {
            telemetry::Resuming {
                kind: definition.name(),
                id: display(id),
                state: &definition.states[*state].name,
                age_ms,
            }
            .emit();
        }
        Ok((age_ms, warnings))
    }

    /// A warning if the number of machines that wait differs from that of the resumed ones.
    async fn compare_with_waiting(
        &self,
        Waits { definition, state, index, .. }: &Waits,
        resuming: usize,
    ) -> Result<Option<ResumeWarning>, LoadError> {
        let session = index.session.as_deref();
        let kind = definition.name();
        let mut query = Query::new().machine(kind).status(&*definition.states[*state].name).live();
        if let Some(session) = session {
            query = query.session(session);
        }
        let mut waiting = 0;
        let mut next = Some(query);
        while let Some(query) = next {
            let page = self.list(&query).await?;
            let of_session = |line: &&MachineLine| line.session.as_deref() == session;
            waiting += page.items.iter().flatten().filter(of_session).count();
            next = page.next.map(|next| query.after(next));
        }
        if resuming == waiting {
            return Ok(None);
        }
        let warning = ResumeWarning::Number { resuming, waiting };
        let (resuming, waiting) = (resuming as u64, waiting as u64);
        telemetry::ResumeMismatch { kind, resuming, waiting }.emit();
        Ok(Some(warning))
    }
}

/// An execution that is to be resumed should wait.
fn is_resumed(id: Id, of: &Definition, (found, wanted): (usize, usize)) {
    let is_waiting = of.states[wanted].name.parse() == Ok(Status::Waiting);
    if let (true, true, Ok(found)) =
        (of.name == execution::DEFINITION.name, is_waiting, of.states[found].name.parse())
    {
        let _ = at_position(id, GraphPosition::ResumeBegins, found);
    }
}

/// A warning if an execution is not where the graph is.
pub(crate) fn at_position(id: Id, position: GraphPosition, found: Status) -> Option<ResumeWarning> {
    let mismatch = position.check(found).err()?;
    let (position, state) = (position.name(), &*found.definition().name);
    telemetry::PositionMismatch { id: display(id), position, state }.emit();
    Some(ResumeWarning::Position(mismatch))
}
