use std::collections::HashMap;

use serde::Serialize;

use super::{
    Audience, ExecutionSnapshot, Human, Label, Language, TransitionRecord, View,
    audience::is_hidden,
};
use crate::{clock::Millis, contract::AnyExecution, id::Id};

/// The executions of a session with their transitions, as an audience may see them.
#[derive(Debug, Clone, PartialEq, Serialize, crate::ToSchema)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct ExecutionTimeline<A: Audience = Human> {
    /// The session.
    pub session_id: String,
    /// The executions, oldest first.
    pub contracts: Vec<ExecutionSnapshot<A>>,
    /// All their transitions, oldest first.
    pub transitions: Vec<TransitionRecord<A>>,
    /// The executions that attempt the same action, oldest first, where there are several.
    pub attempts: Vec<Vec<Id>>,
    /// The number of executions.
    pub total_contracts: usize,
    /// The number that have ended.
    pub terminal_contracts: usize,
    /// The number that have not ended.
    pub active_contracts: usize,
    /// One of them waits.
    pub has_suspended: bool,
    /// An irreversible action took effect.
    pub has_irreversible_completed: bool,
    /// When the first one was created (milliseconds since the Unix epoch).
    pub started_at: Option<Millis>,
    /// When the last one ended; `None` while one has not, or cannot be read (milliseconds since the
    /// Unix epoch).
    pub ended_at: Option<Millis>,
    /// The number of executions that cannot be read. They are missing here, and in all other
    /// numbers.
    pub unreadable: usize,
    /// The errors of these.
    #[serde(skip_serializing_if = "is_hidden")]
    #[schema(value_type = Vec<String>)]
    pub errors: A::Internal<Vec<String>>,
}

/// An execution with its key. Boxed, because it is large and is moved several times.
pub(crate) type WithKey<A> = (Box<ExecutionSnapshot<A>>, Option<String>);

impl<A: Audience> ExecutionTimeline<A> {
    /// The timeline of some executions, each with its transitions, as
    /// [`transitions`](super::transitions) returns them, with the summaries and the sentences in a
    /// language. `now` is the time in milliseconds since the Unix epoch.
    #[must_use]
    pub fn of(
        session: &str,
        executions: Vec<(&AnyExecution, Vec<View<TransitionRecord<A>>>)>,
        now: Millis,
        language: Language,
    ) -> View<Self> {
        let mut executions: Vec<_> = executions
            .into_iter()
            .map(|(execution, own)| (with_key(execution, now, language), own))
            .collect();
        executions.sort_by_key(|((snapshot, _), _)| age(snapshot));
        let (contracts, transitions): (Vec<_>, Vec<_>) = executions.into_iter().unzip();
        let transitions = transitions.into_iter().flatten().map(View::into_inner);
        Self::of_sorted(session, contracts, transitions.collect(), Vec::new())
    }

    /// `executions` are in the order of their age, `transitions` are those of each in this order,
    /// and `errors` are those of the executions that cannot be read.
    pub(crate) fn of_sorted(
        session: &str,
        executions: Vec<WithKey<A>>,
        mut transitions: Vec<TransitionRecord<A>>,
        errors: Vec<String>,
    ) -> View<Self> {
        let mut attempts: HashMap<String, Vec<Id>> = HashMap::new();
        let mut contracts = Vec::with_capacity(executions.len());
        for (snapshot, key) in executions {
            if let Some(key) = key {
                attempts.entry(key).or_default().push(snapshot.execution_id);
            }
            contracts.push(*snapshot);
        }
        // Stable, so that the transitions of one execution stay in order.
        transitions.sort_by_key(|transition| transition.timestamp);
        let mut attempts: Vec<Vec<Id>> =
            attempts.into_values().filter(|attempts| attempts.len() > 1).collect();
        attempts.sort();
        let terminal = contracts.iter().filter(|contract| contract.is_terminal).count();
        let active = contracts.len() - terminal;
        let waits = |contract: &ExecutionSnapshot<A>| {
            matches!(contract.label, Label::Waiting | Label::InDoubt)
        };
        let last = contracts.iter().map(|contract| contract.entered_at).max();
        View::new(Self {
            session_id: session.to_owned(),
            attempts,
            total_contracts: contracts.len(),
            terminal_contracts: terminal,
            active_contracts: active,
            has_suspended: contracts.iter().any(waits),
            has_irreversible_completed: contracts.iter().any(|contract| contract.took_effect),
            started_at: contracts.first().map(|contract| contract.created_at),
            ended_at: last.filter(|_| active == 0 && errors.is_empty()),
            transitions,
            contracts,
            unreadable: errors.len(),
            errors: A::__internal(|| errors),
        })
    }
}

pub(crate) fn with_key<A: Audience>(
    execution: &AnyExecution,
    now: Millis,
    language: Language,
) -> WithKey<A> {
    let key = execution.context().idempotency_key().map(ToString::to_string);
    (Box::new(ExecutionSnapshot::project(execution, now, language)), key)
}

/// Ids rise with time, and tell those of one millisecond apart.
pub(crate) fn age<A: Audience>(snapshot: &ExecutionSnapshot<A>) -> (Millis, Id) {
    (snapshot.created_at, snapshot.execution_id)
}
